"""Checks that all processes reach every collective call. See src/lib/dataset/dataset.h.

    collective.py DIRECTORY COMPILER-FLAG... -- FILE.c...

analyses the functions in these files and in the headers of DIRECTORY.

Names: if a function may make a collective MPI call, its name must end in _all, or in _either if
its argument `how` determines whether it is collective. No other function may have such a name.

Divergence: every value is traced to its sources. Values that a process determines for itself
(memory, files, its rank, its arguments) may differ between processes. The results of agreements,
and the state in AGREED, are the same on all processes. Whether a collective call is reached
(through if, loops, returns, &&, || and ?:) must not depend on values that may differ. The same
rule applies to communicators within a node, and to those of the first processes of the nodes.

The analysis computes a summary of each function: its effects on values, and the arguments that
determine whether it makes collective calls. Summaries are substituted for calls until none of
them changes.
"""
import os
import sys

from clang.cindex import CursorKind as K, TypeKind

from collective_source import *  # noqa: F401,F403
from collective_source import Program, WRAPPERS, between, scope_of_call, source_of, strip, strip_address, text_of
from collective_tables import *  # noqa: F401,F403

# ---- tracing values ----
#
# The sources of a value form a set of tuples:
#   ('own', why)     determined by a process for itself: may differ on every process
#   ('node', why)    the same on all processes of a node
#   ('group', why)   the same on all processes that share a subfile
#   ('first',)       whether this is the first process of its node
#   ('in', i, path)  the caller's i-th argument, or the member of it at that path

NOTHING = frozenset()
MOST = 40
ROUNDS = 6


def own(why):
    return frozenset([('own', why)])


def join(*sets):
    """Returns the union of the sets, with at most MOST of a process's own sources."""
    all_ = frozenset().union(*sets)
    owns = sorted(s for s in all_ if s[0] == 'own')
    if len(owns) > MOST:
        all_ = (all_ - frozenset(owns)) | frozenset(owns[:MOST])
    return all_


class Analysis:
    """One analysis of a function."""

    def __init__(self, program, f):
        self.p, self.f = program, f
        self.env = {}
        self.ret = NOTHING
        self.returns = NOTHING  # sources that determine whether earlier returns were taken
        self.under = NOTHING    # sources that determine whether this statement is reached
        self.breaks = []        # one set for each enclosing loop or switch
        self.continues = []
        self.needs = {}
        self.locals = set()
        self.pointers = set()
        self.tells = set()
        self.out = {}
        self.aliases = {}  # local pointers to parts of an argument's target

    # -- places --

    def place(self, e):
        """Returns (root, member...) of an lvalue or pointer, or None."""
        e = strip(e)
        if e.kind == K.DECL_REF_EXPR:
            return self.aliases.get(e.spelling, (e.spelling,))
        if e.kind == K.MEMBER_REF_EXPR:
            inner = e.children
            base = self.place(inner[0]) if inner else None
            if base is None:
                return None
            return (base[:-1] if base[-1] == '*' else base) + (e.spelling,)
        if e.kind == K.ARRAY_SUBSCRIPT_EXPR:
            return self.pointed(e.children[0])
        if e.kind == K.UNARY_OPERATOR:
            inner = e.children[0]
            if text_of(e)[:1] == '&':
                return self.place(inner)
            if text_of(e)[:1] == '*':
                return self.pointed(inner)
        if e.kind == K.BINARY_OPERATOR:  # a pointer and an integer
            a, b = e.children
            if between(a, b) in '+-' and a.shape in (
                    TypeKind.POINTER, TypeKind.CONSTANTARRAY):
                return self.place(a)
        return None

    def pointed(self, e):
        """Returns the place that a pointer points to, or the elements of an array."""
        place = self.place(e)
        if place is None or strip(e).shape != TypeKind.POINTER or \
                strip(e).kind == K.UNARY_OPERATOR and text_of(strip(e))[:1] == '&':
            return place
        return place + ('*',)

    def agreed(self, e):
        """Returns whether AGREED names a member."""
        inner = e.children
        record = inner[0].record if inner else None
        if record not in AGREED:
            return False, record
        return AGREED[record] is None or e.spelling in AGREED[record], record

    def load(self, place, e):
        if place[-1] == '*' and place not in self.env and len(place) > 2:
            place = place[:-1]
        if place[0] in SHARED:
            return NOTHING
        for n in range(len(place), 0, -1):
            if place[:n] in self.env:
                if n == 1 and len(place) > 1 and (
                        place[0] in self.f.params or place[1] == '*'):
                    break  # the pointer, not its target
                return self.env[place[:n]]
        if e is not None and e.kind == K.MEMBER_REF_EXPR:
            known, record = self.agreed(e)
            if known:
                return NOTHING
            if (record, e.spelling) in NODEWISE:
                return frozenset([('node', '%s.%s' % (record, e.spelling))])
            if (record, e.spelling) in GROUPWISE:
                return frozenset([('group', '%s.%s' % (record, e.spelling))])
            if (record, e.spelling) in FIRSTS:
                return frozenset([('first',)])
            if record in AGREED:
                return own('%s.%s' % (record, e.spelling))
            if e.spelling in ALIKE:
                return NOTHING
        if place[0] in self.f.params:
            return frozenset([('in', self.f.params.index(place[0]), place[1:])])
        if place[0] in self.locals and place[1:] in ((), ('*',)):
            return NOTHING if place[1:] == () else self.env.get(place[:1], NOTHING)
        parts = [s for q, s in self.env.items() if q[:len(place)] == place]
        if parts:
            return join(*parts)
        return own('%s, each process\'s own' % '.'.join(place[-2:]))

    def store(self, place, value, weak=False):
        if place is None:
            return
        for q in [q for q in self.env if q[:len(place)] == place and q != place]:
            if not weak:
                del self.env[q]
        self.env[place] = join(self.env.get(place, NOTHING), value) if weak else value

    # -- expressions --

    def where(self, e):
        return '%s:%d' % (os.path.basename(e.file), e.line)

    def value(self, e):
        e = strip(e)
        method = self.EXPRESSIONS.get(e.kind)
        if method is not None:
            return method(self, e)
        return join(*(self.value(x) for x in e.children
                      if x.is_expr))

    def constant(self, e):
        return NOTHING

    def name(self, e):
        if e.referenced in (K.ENUM_CONSTANT_DECL, K.FUNCTION_DECL):
            return NOTHING
        if e.spelling in ALIKE or e.spelling in SHARED:
            return NOTHING
        if self.is_constant(e):
            return NOTHING
        if e.referenced == K.VAR_DECL and e.spelling not in self.locals:
            return own('%s, a variable of the process' % e.spelling)
        return self.load((e.spelling,), e)

    def member(self, e):
        place = self.place(e)
        if place is None:
            for x in e.children:
                self.value(x)
            known, _ = self.agreed(e)
            return NOTHING if known else own('%s' % e.spelling)
        return self.load(place, e)

    def subscript(self, e):
        a, i = e.children
        place = self.place(e)
        return join(self.value(a) if place is None else self.load(place, strip(a)),
                    self.value(i))

    def unary(self, e):
        inner = e.children[0]
        t = text_of(e)
        place = self.place(inner)
        if t.startswith('&'):
            self.value(inner)
            return NOTHING
        if t.startswith('*') and place is not None:
            return self.load(place + ('*',), strip(inner))
        return self.value(inner)

    def binary(self, e):
        a, b = e.children
        op = between(a, b)
        if op == '=':
            v = self.value(b)
            self.value(a)
            self.assign(a, b, v)
            return v
        if op in ('&&', '||'):
            left = self.value(a)
            with Under(self, left):
                return join(left, self.value(b))
        if op in ('==', '!=') and self.is_first(a, b):
            return frozenset([('first',)])
        return join(self.value(a), self.value(b))

    def is_first(self, a, b):
        """Returns whether this is `rank == 0` among the processes of a node."""
        a = strip(a)
        inner = a.children
        return text_of(b) == '0' and a.kind == K.MEMBER_REF_EXPR and bool(inner) and \
            (inner[0].record, a.spelling) in FIRST

    def assign(self, a, b, v):
        a = strip(a)
        place = self.place(a)
        if a.kind == K.MEMBER_REF_EXPR:
            self.check_agreed(a, v)
        literal = strip(b)
        if literal.kind == K.COMPOUND_LITERAL_EXPR:
            literal = [x for x in literal.children if x.kind == K.INIT_LIST_EXPR][0]
        if place is not None and literal.kind == K.INIT_LIST_EXPR:
            return self.initialise(place, a.record, a.fields, literal)
        weak = a.kind == K.ARRAY_SUBSCRIPT_EXPR
        self.store(place, v, weak)
        return None

    def check_agreed(self, a, v):
        """Checks that a member named in AGREED gets the same value on all processes."""
        known, record = self.agreed(a)
        if not known or AGREED[record] is None or \
                self.f.name in UNCHECKED:
            return
        self.need(a, join(v, self.under, self.returns), frozenset([ALL]),
                  'keeps %s.%s the same on all' % (record, a.spelling))

    def initialise(self, place, record, members, literal):
        members = members or []
        if members and place[-1] == '*':
            place = place[:-1]
        self.store(place, NOTHING)
        for i, x in enumerate(literal.children):
            inner = x.children
            if inner and inner[0].kind == K.MEMBER_REF:
                member, x = inner[0].spelling, inner[-1]
            elif members and i < len(members):
                member = members[i]
            else:
                v = join(*(self.value(y) for y in inner[-1:])) if inner and \
                    x.kind == K.UNEXPOSED_EXPR and len(inner) == 2 else self.value(x)
                self.store(place, v, True)
                continue
            v = self.value(x)
            self.env[place + (member,)] = v
            if record in AGREED and AGREED[record] and member in AGREED[record] and \
                    self.f.name not in UNCHECKED:
                self.need(x, join(v, self.under, self.returns), frozenset([ALL]),
                          'keeps %s.%s the same on all' % (record, member))

    def compound(self, e):
        a, b = e.children
        v = join(self.value(a), self.value(b))
        self.assign(a, b, v)
        return v

    def conditional(self, e):
        c, a, b = e.children
        decides = self.value(c)
        with Under(self, decides):
            before = dict(self.env)
            first = self.value(a)
            after, self.env = self.env, before
            second = self.value(b)
            self.merge(after, decides)
        return join(decides, first, second)

    def literal(self, e):
        init = [x for x in e.children if x.kind == K.INIT_LIST_EXPR]
        return self.value(init[0]) if init else NOTHING

    def size(self, e):
        return NOTHING

    # -- calls --

    def call(self, e):
        args = e.arguments
        values = [self.value(a) for a in args]
        names = self.p.targets(e, self.f)
        if not names:
            return join(own('%s: a call of an unknown function' % self.where(e)), *values)
        results = [self.one_call(e, n, args, values) for n in names]
        return join(*results)

    def one_call(self, e, name, args, values):
        f = self.p.functions.get(name)
        plain = f.name if f is not None else name
        scope = f.scope if f is not None else frozenset(
            {scope_of_call(name, args)} - {None} if name in COLLECTIVE else [])
        part = self.p.through_part(e, self.f)
        if part and scope:
            scope = frozenset([GROUP])
        if self.f.name.endswith('_alone'):
            scope -= {GROUP}
        if scope:
            self.need(e, join(self.under, self.returns, *self.breaks, *self.continues),
                      scope, 'comes to ' + plain)
        if plain in TELLS:
            self.settle(values[TELLS[plain]])
        for i in f.tells if f is not None else ():
            self.settle(values[i])
        if plain in AGREES:
            same = frozenset([('group', self.where(e))]) if part else NOTHING
            for i in AGREES[plain]:
                if i < len(args):
                    self.store_at(args[i], same)
            return same
        if part and scope:
            same = plain in AGREED_RESULTS or any(
                name in self.p.slots.get(slot, ()) for slot in AGREED_RESULTS)
            return frozenset([('group', self.where(e))]) if same else \
                own('%s of %s' % (self.where(e), plain))
        if f is None or plain in PURE or plain.startswith('base_') and plain[5:] in MEMORY:
            return self.foreign(e, plain, args, values)
        for (source, s), why in f.needs.items():
            if s == {GROUP} and self.f.name.endswith('_alone'):
                continue
            if part:  # "all" means the processes that have the part open
                s = frozenset([GROUP])
            self.need(e, self.seen_from_here(source, args, values), s, why)
        for (i, path), sources_ in f.out.items():
            if i >= len(args):
                continue
            place = self.pointed(args[i]) if path == ('*',) else self.place(args[i])
            path = () if path == ('*',) else path
            if place is None:
                continue
            v = join(*(self.seen_from_here(s, args, values) for s in sources_))
            self.store(place + path, v)
        return join(*(self.seen_from_here(s, args, values) for s in f.result))

    def settle(self, told):
        """Handles values that were passed to an agreement as errors."""
        for s in told:
            if s[0] == 'in' and not s[2]:
                self.tells.add(s[1])
        for q, v in self.env.items():
            if (q[0] in self.pointers or q[-1] == '*') and v and v <= told:
                self.env[q] = NOTHING

    def store_at(self, arg, value):
        place = self.pointed(arg)
        if place is not None:
            self.store(place, value)

    def seen_from_here(self, source, args, values):
        if source[0] != 'in':
            return frozenset([source])
        i, path = source[1], source[2]
        if i >= len(args):
            return NOTHING
        a = strip(args[i])
        if self.is_constant(strip_address(a)):
            return NOTHING
        if path == ('*',):
            place = self.pointed(a)
            return values[i] if place is None else self.load(place, None)
        if a.kind == K.UNARY_OPERATOR and text_of(a).startswith('&'):
            if not path:
                return NOTHING  # an address
            a = strip(a.children[0])
            if a.kind == K.COMPOUND_LITERAL_EXPR:
                return self.of_literal(a, path)
            place = self.place(a)
            return self.load_path(place, path) if place else values[i]
        place = self.place(a)
        return self.load_path(place, path) if place is not None and path else values[i]

    def is_constant(self, e):
        return e.target == 'constant' and e.spelling not in self.locals

    def of_literal(self, a, path):
        init = [x for x in a.children if x.kind == K.INIT_LIST_EXPR][0]
        members = a.fields or []
        for i, x in enumerate(init.children):
            inner = x.children
            name = inner[0].spelling if inner and inner[0].kind == K.MEMBER_REF else \
                members[i] if i < len(members) else None
            if path and name == path[0]:
                return self.value(inner[-1] if inner and inner[0].kind == K.MEMBER_REF else x)
        return NOTHING if path else self.value(init)

    def load_path(self, place, path):
        for n in range(len(place + path), 0, -1):
            if (place + path)[:n] in self.env:
                if n <= 1 and path and place[0] in self.f.params:
                    break
                return self.env[(place + path)[:n]]
        if place[0] in self.f.params:
            whole = place[1:] + path
            if len(whole) > 4:
                return own('.'.join(whole))
            return frozenset([('in', self.f.params.index(place[0]), whole)])
        if not path:
            return NOTHING if place[0] in self.locals else own('.'.join(place))
        return own('%s, each process\'s own' % '.'.join(path[-2:]))

    def foreign(self, e, name, args, values):
        """Analyses a call of a function of MPI or the system."""
        if name in SPREADS:
            scope = scope_of_call(name, args)
            v = NOTHING if scope == ALL else \
                frozenset([('group' if scope == GROUP else 'node', self.where(e))])
            self.store_at(args[SPREADS[name]], v)
            return NOTHING if scope == ALL else v
        if name in PURE:
            v = values[HANDS_ON[name]] if name in HANDS_ON else join(*values)
            if name in PURE_INTO and args:
                self.store_at(args[0], join(*values[1:]))
            return v
        mine = own('%s of %s' % (self.where(e), name))
        if name in CARRIES:
            self.store_at(args[1], mine)
            return NOTHING
        for a in args:
            t = a.shape
            inner = strip(a)
            if inner.kind == K.UNARY_OPERATOR and text_of(inner).startswith('&') or \
                    t == TypeKind.CONSTANTARRAY:
                self.store_at(a, mine)
        return mine

    def need(self, e, sources_, scope, why):
        allowed = set()
        if scope == {NODE}:
            allowed = {'node'}
        if scope == {LEADERS}:
            allowed = {'first'}
        if scope == {GROUP}:
            allowed = {'group'}
        where = '%s: in %s, whether it %s' % (self.where(e), self.f.name, why) \
            if not why.startswith('@') else why
        for s in sources_:
            if s[0] in allowed:
                continue
            if s[0] == 'in':
                full = '@' + where.lstrip('@')
                self.needs.setdefault((s, scope), full)
            else:
                detail = {'own': s[-1], 'node': 'what nodes differ in: ' + s[-1],
                          'group': 'what groups differ in: ' + s[-1],
                          'first': 'being the first of a node'}[s[0]]
                called = '' if not why.startswith('@') else \
                    ' (called by %s, %s)' % (self.f.name, self.where(e))
                self.p.here.setdefault(where.lstrip('@') + called, set()).add(detail)

    EXPRESSIONS = {
        K.DECL_REF_EXPR: name, K.MEMBER_REF_EXPR: member,
        K.ARRAY_SUBSCRIPT_EXPR: subscript, K.UNARY_OPERATOR: unary,
        K.BINARY_OPERATOR: binary, K.COMPOUND_ASSIGNMENT_OPERATOR: compound,
        K.CONDITIONAL_OPERATOR: conditional, K.CALL_EXPR: call,
        K.COMPOUND_LITERAL_EXPR: literal, K.INTEGER_LITERAL: constant,
        K.FLOATING_LITERAL: constant, K.STRING_LITERAL: constant,
        K.CHARACTER_LITERAL: constant, K.CXX_UNARY_EXPR: size,
    }

    # -- statements --

    def merge(self, other, decides):
        """Merges with another environment, which was left depending on `decides`."""
        for q in set(self.env) | set(other):
            a, b = self.env.get(q), other.get(q)
            if a == b:
                continue
            if a is None:
                a = self.prefix(self.env, q)
            if b is None:
                b = self.prefix(other, q)
            self.env[q] = join(a, b, decides)

    def prefix(self, env, q):
        for n in range(len(q) - 1, 0, -1):
            if q[:n] in env:
                return env[q[:n]]
        if q[0] in self.f.params and len(q) > 1:
            return frozenset([('in', self.f.params.index(q[0]), q[1:])])
        if q[0] in self.f.params:
            return frozenset([('in', self.f.params.index(q[0]), ())])
        return NOTHING

    def statement(self, s):
        method = self.STATEMENTS.get(s.kind)
        if method is not None:
            method(self, s)
        elif s.is_expr:
            self.value(s)
        else:
            for x in s.children:
                self.statement(x)

    def block(self, s):
        for x in s.children:
            self.statement(x)

    def declaration(self, s):
        for d in s.children:
            if d.kind != K.VAR_DECL:
                continue
            self.locals.add(d.spelling)
            if d.shape == TypeKind.POINTER:
                self.pointers.add(d.spelling)
            for q in [q for q in self.env if q[0] == d.spelling]:
                del self.env[q]
            init = [x for x in d.children if x.is_expr]
            kind = d.shape
            if kind == TypeKind.CONSTANTARRAY and init and init[-1].kind != K.INIT_LIST_EXPR:
                init = init[1:] if init[0].kind == K.INTEGER_LITERAL else init
            if not init or init[-1].kind == K.INTEGER_LITERAL and kind == TypeKind.CONSTANTARRAY:
                continue
            e = strip(init[-1])
            if e.kind == K.INIT_LIST_EXPR or e.kind == K.COMPOUND_LITERAL_EXPR:
                if e.kind == K.COMPOUND_LITERAL_EXPR:
                    e = [x for x in e.children if x.kind == K.INIT_LIST_EXPR][0]
                self.initialise((d.spelling,), d.record, d.fields, e)
            else:
                v = self.value(e)
                place = self.place(e)
                if kind == TypeKind.POINTER and place is not None and \
                        place[0] in self.f.params:
                    self.aliases[d.spelling] = place
                self.store((d.spelling,), v)

    def if_(self, s):
        parts = list(s.children)
        decides = self.value(parts[0])
        with Under(self, decides):
            before = dict(self.env)
            self.statement(parts[1])
            gone = never_ends(parts[1])
            after, self.env = self.env, before
            if len(parts) > 2:
                self.statement(parts[2])
                if never_ends(parts[2]):
                    if not gone:
                        self.env = after
                    return
            if not gone:
                self.merge(after, decides)

    def loop(self, body, condition=None, step=None):
        self.breaks.append(NOTHING)
        self.continues.append(NOTHING)
        again = NOTHING  # sources that determine whether there is another iteration
        for _ in range(2):
            before = dict(self.env)
            self.continues[-1] = NOTHING
            with Under(self, again):
                decides = self.value(condition) if condition is not None else NOTHING
            self.continues[-1] = NOTHING
            with Under(self, join(decides, again)):
                self.statement(body)
                if step is not None:
                    self.value(step)
            again = join(again, decides, self.breaks[-1])
            self.merge(before, again)
        self.breaks.pop()
        self.continues.pop()

    def while_(self, s):
        c, body = s.children
        self.loop(body, c)

    def do(self, s):
        body, c = s.children
        self.statement(body)
        self.loop(body, c)

    def for_(self, s):
        parts = list(s.children)
        body = parts.pop()
        source = source_of(s)
        ends, depth = [], 0
        for at in range(s.start, body.start):
            ch = source[at:at + 1]
            depth += ch in (b'(', b'{')
            depth -= ch in (b')', b'}')
            if ch == b';' and depth == 1:
                ends.append(at)
        condition = step = None
        for x in parts:
            at = x.start
            if at < ends[0]:
                self.statement(x)
            elif at < ends[1]:
                condition = x
            else:
                step = x
        self.loop(body, condition, step)

    def switch(self, s):
        c, body = s.children
        self.breaks.append(NOTHING)
        self.continues.append(NOTHING)
        decides = self.value(c)
        before = dict(self.env)
        with Under(self, decides):
            self.statement(body)
        self.merge(before, decides)
        inner = self.continues.pop()
        if self.continues:
            self.continues[-1] = join(self.continues[-1], inner)
        self.breaks.pop()

    def return_(self, s):
        for x in s.children:
            self.ret = join(self.ret, self.value(x))
        self.ret = join(self.ret, self.under, self.returns)
        self.returns = join(self.returns, self.under, *self.breaks)
        self.finish()

    def break_(self, s):
        if self.breaks:
            self.breaks[-1] = join(self.breaks[-1], self.under)

    def continue_(self, s):
        if self.continues:
            self.continues[-1] = join(self.continues[-1], self.under)

    STATEMENTS = {
        K.COMPOUND_STMT: block, K.DECL_STMT: declaration, K.IF_STMT: if_,
        K.WHILE_STMT: while_, K.DO_STMT: do, K.FOR_STMT: for_, K.SWITCH_STMT: switch,
        K.RETURN_STMT: return_, K.BREAK_STMT: break_, K.CONTINUE_STMT: continue_,
    }

    # -- a whole function --

    def finish(self):
        """Records what the function has stored through its arguments if it ends here."""
        for q, v in self.env.items():
            if self.f.pointer.get(q[0]) and 1 < len(q) < 5:
                place = (self.f.params.index(q[0]), q[1:])
                self.out[place] = join(self.out.get(place, NOTHING), v)

    def run(self):
        f = self.f
        self.statement(f.body)
        self.finish()
        new = (self.ret, self.out, self.needs, self.tells)
        changed = (f.result, f.out, f.needs.keys(), f.tells) != \
            (self.ret, self.out, self.needs.keys(), self.tells)
        f.result, f.out, f.needs, f.tells = new
        return changed


class Under:
    """Adds the sources that decide whether some statements are reached."""

    def __init__(self, analysis, decides):
        self.a, self.decides = analysis, decides

    def __enter__(self):
        self.before = self.a.under
        self.a.under = join(self.a.under, self.decides)

    def __exit__(self, *_):
        self.a.under = self.before


def never_ends(s):
    """Returns whether a statement always leaves its block."""
    if s.kind in (K.RETURN_STMT, K.BREAK_STMT, K.CONTINUE_STMT):
        return True
    inner = list(s.children) if s.kind == K.COMPOUND_STMT else []
    return bool(inner) and never_ends(inner[-1])


# ---- the whole program ----

def check_names(p):
    """Checks that all collective functions, and no others, have a suffix."""
    bad = []
    for name, f in p.functions.items():
        slot = any(name in fs and m.endswith('_all') for m, fs in p.slots.items())
        suffixed = f.name.endswith(('_all', '_either'))
        if f.name.startswith(PUBLIC):
            continue
        if f.scope and not suffixed:
            bad.append('%s: %s is collective: it should end in _all' % (f.at, f.name))
        elif suffixed and not f.scope and not slot:
            bad.append('%s: %s is not collective' % (f.at, f.name))
        elif f.name.endswith('_either') and not f.has_how:
            bad.append('%s: %s has no argument that says how' % (f.at, f.name))
    for member, fs in p.slots.items():
        if any(p.functions[n].scope for n in fs if n in p.functions) and \
                not member.endswith('_all'):
            bad.append('%s: a collective function is stored there' % member)
    return bad


def callees_first(p):
    seen, out = set(), []

    def visit(name):
        if name in seen or name not in p.functions:
            return
        seen.add(name)
        for t in sorted(p.functions[name].calls):
            visit(t)
        out.append(name)

    for name in sorted(p.functions):
        visit(name)
    return out


def check_flow(p):
    callers = {}
    for name, f in p.functions.items():
        for t in f.calls:
            callers.setdefault(t, set()).add(name)
    order = {name: n for n, name in enumerate(callees_first(p))}
    todo, rounds = sorted(order, key=order.get), {}
    while todo:
        again = set()
        for name in todo:
            p.here = p.functions[name].findings = {}
            rounds[name] = rounds.get(name, 0) + 1
            if Analysis(p, p.functions[name]).run() and rounds[name] < ROUNDS:
                again |= callers.get(name, set())
        todo = sorted(again, key=order.get)
    p.findings = {}
    for f in p.functions.values():
        for why, what in f.findings.items():
            p.findings.setdefault(why, set()).update(what)
    for name in p.entered:
        f = p.functions[name]
        for ((_, i, path), _), why in f.needs.items():
            what = '.'.join((f.params[i],) + path)
            if f.params[i] in ALIKE or path and path[-1] in ALIKE:
                continue
            p.findings.setdefault(why.lstrip('@'), set()).add('%s of %s' % (what, f.name))
    return ['%s depends on\n    %s' % (why, '\n    '.join(sorted(what)))
            for why, what in sorted(p.findings.items())]


PUBLIC = ('ncmpi_', 'ncmpix_')


def main():
    top, args = sys.argv[1], sys.argv[2:]
    split = args.index('--')
    flags, files = args[:split], args[split + 1:]
    p = Program()
    for path in files:
        p.read(path, flags, top)
    p.find_scopes()
    bad = check_names(p) + check_flow(p)
    print('\n'.join(bad))
    sys.exit(1 if bad else 0)


main()
