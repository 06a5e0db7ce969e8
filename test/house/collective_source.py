"""Reads the sources for the test of collective calls with libclang: the functions, the functions
that they call, and the processes that must all make such a call."""
import ctypes
import os
import re
import sys

from clang.cindex import CursorKind as K, Index, StorageClass, TypeKind, conf

from collective_tables import *  # noqa: F401,F403


def key(c):
    """Returns a function's name, with its file if it is static in a C file."""
    if c.storage_class == StorageClass.STATIC and c.location.file.name.endswith('.c'):
        return os.path.basename(c.location.file.name) + ':' + c.spelling
    return c.spelling


def offset_and_line(location):
    """Returns the offset and line in the file, also for arguments of macros."""
    file, line, column, offset = (ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(),
                                  ctypes.c_uint())
    conf.lib.clang_getFileLocation(location, *map(ctypes.byref, (file, line, column, offset)))
    return offset.value, line.value


sources = {}


def source_of(n):
    if n.file not in sources:
        with open(n.file, 'rb') as f:
            sources[n.file] = f.read()
    return sources[n.file]


def text_of(n):
    return source_of(n)[n.start:n.end].decode()


def between(a, b):
    """Returns the text between two adjacent expressions: an operator."""
    t = source_of(a)[a.end:b.start].decode()
    return re.sub(r'/\*.*?\*/|[()\s]', '', t, flags=re.S)


WRAPPERS = (K.UNEXPOSED_EXPR, K.PAREN_EXPR, K.CSTYLE_CAST_EXPR)


def strip(e):
    """Removes parentheses and casts, and replaces a layer that has a slot by its stack."""
    while True:
        inner = [x for x in e.children if x.kind != K.TYPE_REF]
        if e.kind == K.ARRAY_SUBSCRIPT_EXPR and is_owner(inner[0]):
            e = strip(inner[0]).children[0]
        elif e.kind in WRAPPERS and len(inner) == 1:
            e = inner[0]
        else:
            return e


def is_owner(e):
    e = strip(e)
    return e.kind == K.MEMBER_REF_EXPR and bool(e.children) and \
        (e.children[0].record, e.spelling) == OWNER


def function_named(e):
    e = strip(e)
    if e.kind == K.UNARY_OPERATOR:
        e = strip(e.children[0])
    return e.target if e.referenced == K.FUNCTION_DECL and e.kind == K.DECL_REF_EXPR else None


class Node:
    """A copy of a cursor's properties, because libclang is slow."""
    __slots__ = ('kind', 'spelling', 'children', 'at', 'start', 'end', 'line', 'file',
                 'referenced', 'target', 'record', 'shape', 'is_expr', 'arguments', 'fields')

    def __init__(self, c):
        self.kind, self.spelling = c.kind, c.spelling
        extent = c.extent
        self.start, self.line = offset_and_line(extent.start)
        self.end = offset_and_line(extent.end)[0]
        self.file = extent.start.file.name if extent.start.file is not None else ''
        self.is_expr = c.kind.is_expression() or c.kind in WRAPPERS
        self.children = [Node(x) for x in c.get_children()]
        self.referenced = self.target = self.record = self.fields = None
        self.shape = TypeKind.INVALID
        if self.is_expr or c.kind == K.VAR_DECL:
            t = c.type
            self.shape = t.get_canonical().kind
            self.record, self.fields = describe(t)
        if c.kind in (K.DECL_REF_EXPR, K.CALL_EXPR):
            r = c.referenced
            if r is not None:
                self.referenced = r.kind
                if r.kind == K.FUNCTION_DECL:
                    self.target = key(r)
                elif r.kind == K.VAR_DECL and 'const' in r.type.spelling:
                    self.target = 'constant'
        self.arguments = self.children[1:] if c.kind == K.CALL_EXPR else []

    def walk_preorder(self):
        yield self
        for x in self.children:
            yield from x.walk_preorder()


records = {}


def describe(t):
    """Returns the struct that a type is or points to, and its members."""
    name = t.spelling
    if name not in records:
        c = t.get_canonical()
        while c.kind in (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY,
                         TypeKind.VARIABLEARRAY):
            c = (c.get_pointee() if c.kind == TypeKind.POINTER
                 else c.element_type).get_canonical()
        records[name] = (None, None) if c.kind != TypeKind.RECORD else \
            (c.get_declaration().spelling, [f.spelling for f in c.get_fields()])
    return records[name]


def strip_address(e):
    e = strip(e)
    if e.kind == K.UNARY_OPERATOR and text_of(e)[:1] == '&':
        e = strip(e.children[0])
    return e


def is_of_part(e):
    """Returns whether this is a member for a dataset that only some processes have, or a dataset
    that is created with their communicator."""
    e = strip_address(e)
    if e.kind == K.INIT_LIST_EXPR:
        return any(x.kind == K.MEMBER_REF_EXPR and bool(x.children) and
                   SCOPE.get((x.children[0].record, x.spelling)) == GROUP
                   for x in e.walk_preorder())
    return e.kind == K.MEMBER_REF_EXPR and bool(e.children) and \
        (e.children[0].record, e.spelling) in PARTS


class Function:
    def __init__(self, cursor):
        self.key, self.name = key(cursor), cursor.spelling
        self.params = [p.spelling for p in cursor.get_arguments()]
        self.pointer = {p.spelling: p.type.get_canonical().kind == TypeKind.POINTER
                        for p in cursor.get_arguments()}
        self.has_how = any(p.spelling == 'how' or 'how' in (describe(p.type)[1] or ())
                           for p in cursor.get_arguments())
        self.at = '%s:%d' % (os.path.basename(cursor.location.file.name),
                             cursor.location.line)
        self.body = Node([x for x in cursor.get_children()
                          if x.kind == K.COMPOUND_STMT][0])
        # local variables that refer to datasets which only some processes have open
        self.parts = {d.spelling for d in self.body.walk_preorder() if d.kind == K.VAR_DECL
                      for x in d.children if x.is_expr and is_of_part(x)}
        self.result = frozenset()
        self.out = {}            # (param, member...) -> sources of its value after a call
        self.needs = {}          # values that must be the same on all processes: (source, scope) -> reason
        self.tells = set()        # arguments that are passed to an agreement as errors
        self.scope = frozenset()  # the processes for which the function waits


class Program:
    def __init__(self):
        self.functions = {}
        self.slots = {}   # member -> functions stored there
        self.passed = {}  # (function, parameter) -> functions passed there
        self.findings = {}
        self.entered = set()  # functions whose address is taken, or without callers

    def read(self, path, flags, top):
        tu = Index.create().parse(path, flags)
        errors = [str(d) for d in tu.diagnostics if d.severity >= 3]
        if errors:
            sys.exit('collective.py: ' + '\n'.join(errors))
        self.keep = getattr(self, 'keep', []) + [tu]
        for c in tu.cursor.get_children():
            if c.location.file is None or not within(c.location.file.name, top):
                continue
            if c.kind == K.FUNCTION_DECL and c.is_definition():
                if key(c) not in self.functions:
                    f = self.functions[key(c)] = Function(c)
                    self.note_uses(f.body)
            elif c.kind == K.VAR_DECL:
                self.note_uses(Node(c))

    def note_uses(self, n):
        """Notes functions that are stored in members, or passed as arguments."""
        for x in n.walk_preorder():
            if x.kind == K.CALL_EXPR and x.target is not None:
                for i, a in enumerate(x.arguments):
                    f = function_named(a)
                    if f is not None:
                        self.passed.setdefault((x.target, i), set()).add(f)
            elif x.kind == K.INIT_LIST_EXPR:
                for y in x.children:
                    if len(y.children) == 2 and y.children[0].kind == K.MEMBER_REF:
                        f = function_named(y.children[1])
                        if f is not None:
                            self.slots.setdefault(y.children[0].spelling, set()).add(f)

    def targets(self, call, caller):
        """Returns the names of the functions that a call may reach."""
        if call.referenced == K.FUNCTION_DECL:
            return [call.target]
        e = strip(call.children[0]) if call.children else None
        if e is not None and e.kind == K.UNARY_OPERATOR:
            e = strip(e.children[0])
        if e is not None and e.kind == K.MEMBER_REF_EXPR:
            return sorted(self.slots.get(e.spelling, ()))
        if e is not None and e.kind == K.DECL_REF_EXPR and e.spelling in caller.params:
            place = (caller.key, caller.params.index(e.spelling))
            return sorted(self.passed.get(place, ()))
        return []

    def through_part(self, call, f):
        """Returns whether this is a call for a dataset that only some processes have."""
        return any(is_of_part(a) or strip_address(a).kind == K.DECL_REF_EXPR and
                   strip_address(a).spelling in f.parts for a in call.arguments)

    def find_scopes(self):
        """Determines for each function the processes over which it is collective."""
        calls, partly = {}, {}
        for name, f in self.functions.items():
            scope = {MEETS[f.name]} if f.name in MEETS else set()
            calls[name], partly[name] = set(), set()
            for x in f.body.walk_preorder():
                if x.kind != K.CALL_EXPR:
                    continue
                part = self.through_part(x, f)
                for t in self.targets(x, f):
                    if part:
                        partly[name].add(t)
                        continue
                    if t in COLLECTIVE:
                        scope |= {scope_of_call(t, x.arguments)} - {None}
                    calls[name].add(t)
            f.scope, f.calls = frozenset(scope), calls[name]
        changed = True
        while changed:
            changed = False
            for name, f in self.functions.items():
                scope = f.scope.union(*(self.functions[t].scope for t in calls[name]
                                        if t in self.functions))
                if any(self.functions[t].scope for t in partly[name] if t in self.functions):
                    scope |= {GROUP}
                if f.name.endswith('_alone'):
                    scope -= {GROUP}
                if f.name not in MEETS and scope != f.scope:
                    f.scope, changed = scope, True
        called = set().union(*calls.values(), *partly.values())
        self.entered = {n for n in self.functions if n not in called} | {
            n for ns in self.passed.values() for n in ns
            if not any(n in self.functions for n in ns)}


def scope_of_call(name, args):
    at = COLLECTIVE[name]
    if at is None or at >= len(args):
        return ALL
    e = strip(args[at])
    if e.kind == K.UNARY_OPERATOR:
        e = strip(e.children[0])
    if text_of(args[at]).lstrip('&').split('->')[-1] in ALONE:
        return None
    if e.kind == K.MEMBER_REF_EXPR:
        owner = e.children
        record = owner[0].record if owner else None
        return SCOPE.get((record, e.spelling), ALL)
    if e.kind == K.DECL_REF_EXPR and e.spelling == 'node':
        return NODE
    return ALL


def within(path, top):
    return os.path.realpath(path).startswith(os.path.realpath(top) + os.sep)
