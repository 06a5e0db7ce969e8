"""Instruments C sources so that one build contains many mutants (see mutant.h).

Each mutant is a small defect at one place: an operator, a condition, a constant or the order of two
arguments is changed, a statement is deleted, two statements are swapped, or an error is ignored. The
original text remains, and `mutant(N)` chooses between both at run time. For example, `a < b` becomes

    ({ __auto_type l7 = (a); __auto_type r7 = (b); mutant(7) ? l7 <= r7 : l7 < r7; })

Line breaks are neither inserted nor removed, so line numbers remain valid.

Changes that cannot matter are not made: the order of the arguments of a minimum or maximum, `<=` for
`<` where both choose between equal numbers, and the arguments of functions that only store the text
of an error."""
import collections
import re
import subprocess

from clang.cindex import CursorKind as K, Index, TranslationUnit, TypeKind

OPERATORS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '+': '-', '-': '+',
             '*': '+', '/': '*', '%': '/', '&': '|', '|': '&', '<<': '>>', '>>': '<<'}
RELATIONS = ('<', '<=', '>', '>=', '==', '!=')
POINTERS = (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY)
INTEGERS = (TypeKind.BOOL, TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG,
            TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.UCHAR, TypeKind.SCHAR, TypeKind.CHAR_S,
            TypeKind.USHORT, TypeKind.SHORT, TypeKind.ENUM)
SYMMETRIC = ('larger', 'smaller', 'least', 'most', 'base_gcd', 'common_divisor')
ERROR_TEXTS = ('base_error_set', 'base_error_system', 'base_mpi_error')
CONSTANT = (K.CASE_STMT, K.ENUM_DECL, K.FIELD_DECL, K.STRUCT_DECL, K.UNION_DECL, K.TYPEDEF_DECL,
            K.CXX_UNARY_EXPR, K.STATIC_ASSERT, K.INIT_LIST_EXPR)


class Source:
    """A source, and the edits that its mutants need."""

    def __init__(self, path, flags, builtin):
        self.path = path
        with open(path, 'rb') as f:
            self.text = f.read()
        self.flags = flags + ['-I' + builtin]
        self.macros = []
        self.mutants = []  # (line, place, operator, before, after)
        self.function, self.seen = '', collections.Counter()
        self.edits = []    # (offset, order, length, text); `order` nests edits at the same offset
        self.depth = 0
        self.bad_lines = set()
        self.unchanged = set()  # (start, end) of expressions that are not changed

    def slice(self, start, end):
        return self.text[start:end].decode()

    # ---- edits ----

    def number(self, cursor, operator, before, after):
        """Adds a mutant, and returns its position in this source; None if none is possible."""
        line, last = (self.text.count(b'\n', 0, at.offset) + 1 for at in (cursor.extent.start, cursor.extent.end))
        if self.bad_lines.intersection(range(line, last + 1)):
            return None
        change = operator, ' '.join(before.split()), ' '.join(after.split())
        self.seen[self.function, change] += 1
        same = self.seen[self.function, change]
        place = self.function if same == 1 else f'{self.function}#{same}'
        self.mutants.append((line, place, *change))
        return len(self.mutants) - 1

    @staticmethod
    def extent(c):
        return c.extent.start.offset, c.extent.end.offset

    def text_of(self, c):
        return ' '.join(self.slice(*self.extent(c)).split())

    def around(self, start, end, before, after):
        self.depth += 1
        self.edits.append((start, self.depth, 0, before))
        self.edits.append((end, -self.depth, 0, after))

    def instead(self, start, end, text):
        self.edits.append((start, 0, end - start, text + '\n' * self.text.count(b'\n', start, end)))

    def result(self, first):
        """Returns the instrumented text. The first mutant has the number `first`."""
        out, at = [], 0
        # At one offset, the ends of inner expressions come first, then the beginnings of outer ones.
        for offset, _, length, text in sorted(self.edits, key=lambda e: (e[0], e[1])):
            out += [self.text[at:offset].decode(), re.sub('@([0-9]+)@', lambda m: str(int(m[1]) + first), text)]
            at = offset + length
        return '#include "mutant.h"\n#line 1\n' + ''.join(out) + self.text[at:].decode()

    # ---- places ----

    def read(self):
        unit = Index.create().parse(self.path, self.flags,
                                    options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        self.mutants, self.edits, self.depth, self.macros = [], [], 0, []
        self.unchanged, self.seen = set(), collections.Counter()
        functions = []
        for c in unit.cursor.get_children():
            if c.location.file is None or c.location.file.name != self.path:
                continue
            if c.kind == K.MACRO_INSTANTIATION:
                self.macros.append((c.extent.start.offset, c.extent.end.offset))
            elif c.kind == K.FUNCTION_DECL and c.is_definition():
                functions.append(c)
        for f in functions:
            returns = f.result_type.get_canonical().kind
            self.function = f.spelling
            for c in f.get_children():
                if c.kind == K.COMPOUND_STMT:
                    self.statements(c, returns)

    def in_macro(self, c):
        start, end = c.extent.start.offset, c.extent.end.offset
        return any(a < end and start < b and not (start < a and b <= end) and
                   not (start <= a and b < end) for a, b in self.macros)

    def visit(self, c, returns):
        if c.kind in CONSTANT:
            if c.kind == K.CASE_STMT:
                self.branch(list(c.get_children())[-1], returns)
            return
        if c.kind == K.COMPOUND_STMT:
            self.statements(c, returns)
            return
        if c.kind == K.DECL_STMT:
            for d in c.get_children():
                if d.kind == K.VAR_DECL and d.storage_class.name != 'STATIC' and \
                        d.type.kind not in POINTERS[1:]:
                    for e in d.get_children():
                        if e.kind.is_expression():
                            self.visit(e, returns)
            return
        outside = not self.in_macro(c)
        self.find_unchanged(c)
        if outside:
            {K.BINARY_OPERATOR: self.binary, K.COMPOUND_ASSIGNMENT_OPERATOR: self.compound,
             K.INTEGER_LITERAL: self.literal, K.CALL_EXPR: self.call, K.IF_STMT: self.condition,
             K.CONDITIONAL_OPERATOR: self.condition}.get(c.kind, lambda c: None)(c)
            if c.kind == K.RETURN_STMT and returns == TypeKind.INT:
                self.returned(c)
        elif any(a <= c.extent.start.offset and c.extent.end.offset <= b for a, b in self.macros):
            return
        children = list(c.get_children())
        bodies = {K.IF_STMT: children[1:], K.FOR_STMT: children[-1:], K.WHILE_STMT: children[-1:],
                  K.DO_STMT: children[:1], K.DEFAULT_STMT: children[-1:]}.get(c.kind, [])
        for child in children:
            (self.branch if child in bodies else self.visit)(child, returns)

    def branch(self, c, returns):
        """Visits a statement that is not in braces."""
        self.delete(c)
        self.visit(c, returns)

    def statements(self, compound, returns):
        children = list(compound.get_children())
        for c, following in zip(children, children[1:] + [None]):
            self.delete(c)
            if following is not None:
                self.swap(c, following)
            self.visit(c, returns)

    # ---- mutants ----

    def find_unchanged(self, c):
        """Finds expressions that must not be changed because that does not matter or is not valid."""
        children = list(c.get_children())
        if c.kind in (K.IF_STMT, K.CONDITIONAL_OPERATOR) and self.chooses_between_equals(children):
            self.unchanged.add(self.extent(children[0]))
        if c.kind == K.ARRAY_SUBSCRIPT_EXPR:
            base, index = children
            while base.kind == K.UNEXPOSED_EXPR:
                base = list(base.get_children())[0]
            size, text = base.type.get_canonical().get_array_size(), self.text_of(index)
            if size > 0 and text.isdigit() and int(text) + 1 >= size:  # the compiler rejects the next one
                self.unchanged.add(self.extent(index))

    def chooses_between_equals(self, children):
        """Returns whether these are the parts of `a < b ? a : b`, or of `if (a < b) b = a`."""
        cond, chosen = children[0], children[1:]
        if chosen[0].kind == K.COMPOUND_STMT:
            chosen += list(chosen.pop(0).get_children())
        if cond.kind != K.BINARY_OPERATOR or self.in_macro(cond):
            return False
        a, b, op = self.operands(cond)
        if len(chosen) == 1 and chosen[0].kind == K.BINARY_OPERATOR and self.operands(chosen[0])[2] == '=':
            chosen = list(chosen[0].get_children())
        return op in ('<', '<=', '>', '>=') and a.type.get_canonical().kind in INTEGERS and \
            len(chosen) == 2 and {self.text_of(x) for x in chosen} == {self.text_of(a), self.text_of(b)}

    def statement_end(self, c):
        """Returns the offset after a statement's semicolon; None if there is none."""
        end = c.extent.end.offset
        m = re.compile(rb'\s*;').match(self.text, end)
        return m.end() if m else None

    def is_deletable(self, c):
        inner = c
        while inner.kind in (K.CSTYLE_CAST_EXPR, K.PAREN_EXPR, K.UNEXPOSED_EXPR):
            inner = list(inner.get_children())[-1]
        kinds = (K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR)
        start, end = c.extent.start.offset, c.extent.end.offset
        whole = any((a, b) == (start, end) for a, b in self.macros)
        if self.text_of(inner).startswith('va_end('):
            return False
        return inner.kind in kinds and self.statement_end(c) is not None and (whole or not self.in_macro(c))

    def delete(self, c):
        if not self.is_deletable(c):
            return
        start, end = c.extent.start.offset, self.statement_end(c)
        n = self.number(c, 'delete', self.slice(start, end), ';')
        if n is not None:
            self.around(start, end, '{ if (!mutant(@%d@)) { ' % n, ' } }')

    def swap(self, c, following):
        if c.kind != K.CALL_EXPR or following.kind != K.CALL_EXPR:
            return
        if not self.is_deletable(c) or not self.is_deletable(following):
            return
        start, end = c.extent.start.offset, self.statement_end(c)
        after = self.statement_end(following)
        first, second = self.slice(start, end), self.slice(following.extent.start.offset, after)
        n = self.number(c, 'swap', first + ' ' + second, second + ' ' + first)
        if n is not None:
            self.around(start, end, '{ if (!mutant(@%d@)) { ' % n, ' } }')
            # -0.5 places this after the end of a guard around the second statement.
            self.edits.append((after, -0.5, 0, ' if (mutant(@%d@)) { %s }' % (n, ' '.join(first.split()))))

    def operands(self, c):
        a, b = list(c.get_children())
        return a, b, self.slice(a.extent.end.offset, b.extent.start.offset).strip()

    def binary(self, c):
        a, b, op = self.operands(c)
        if self.in_macro(a) or self.in_macro(b) and op not in OPERATORS:
            return
        pointers = [x.type.get_canonical().kind in POINTERS for x in (a, b)]
        start, end = c.extent.start.offset, c.extent.end.offset
        middle = a.extent.end.offset, b.extent.start.offset
        if op in ('&&', '||'):
            n = self.number(c, 'logical', self.slice(start, end), 'with ' + ('||' if op == '&&' else '&&'))
            if n is None:
                return
            self.around(start, end, '({ bool l@%d@ = !!(' % n, '); })')
            self.instead(*middle, '); l@%d@ == %smutant(@%d@) ? l@%d@ : !!(' %
                         (n, '' if op == '&&' else '!', n, n))
            return
        if op in OPERATORS and self.extent(c) in self.unchanged:
            return
        if op not in OPERATORS or (any(pointers) and op not in RELATIONS + ('+',)) or (op == '+' and pointers[1]):
            return
        if pointers[0] and op in ('<', '<=', '>', '>='):
            return
        other = OPERATORS[op]
        n = self.number(c, 'operator', self.slice(start, end), 'with ' + other)
        if n is None:
            return
        plus = ['' if p else '+' for p in pointers]
        self.around(start, end, '({ __auto_type l@%d@ = %s(' % (n, plus[0]),
                    '); mutant(@%d@) ? l@%d@ %s r@%d@ : l@%d@ %s r@%d@; })' % (n, n, other, n, n, op, n))
        self.instead(*middle, '); __auto_type r@%d@ = %s(' % (n, plus[1]))

    def compound(self, c):
        _, b, op = self.operands(c)
        if op not in ('+=', '-='):
            return
        start, end = c.extent.start.offset, c.extent.end.offset
        n = self.number(c, 'operator', self.slice(start, end), 'with ' + {'+=': '-=', '-=': '+='}[op])
        if n is not None:
            self.around(b.extent.start.offset, end, '(mutant(@%d@) ? -1 : 1) * (' % n, ')')

    def literal(self, c):
        start, end = c.extent.start.offset, c.extent.end.offset
        if not re.fullmatch(r'[0-9][0-9a-fA-FxX]*', self.slice(start, end)) or (start, end) in self.unchanged:
            return
        n = self.number(c, 'constant', self.slice(start, end), '+ 1')
        if n is not None:
            self.around(start, end, '(', ' + mutant(@%d@))' % n)

    def condition(self, c):
        cond = list(c.get_children())[0]
        if cond.kind == K.BINARY_OPERATOR or self.in_macro(cond):
            return
        start, end = cond.extent.start.offset, cond.extent.end.offset
        n = self.number(cond, 'condition', self.slice(start, end), 'negated')
        if n is not None:
            self.around(start, end, '(!!(', ') != mutant(@%d@))' % n)

    def returned(self, c):
        e = list(c.get_children())[0]
        start, end = e.extent.start.offset, e.extent.end.offset
        if e.kind == K.INTEGER_LITERAL or self.slice(start, end) in ('NC_NOERR',) or self.in_macro(e):
            return
        n = self.number(e, 'return', 'return ' + self.slice(start, end), 'return 0')
        if n is not None:
            self.around(start, end, '(mutant(@%d@) ? 0 : (' % n, '))')

    def call(self, c):
        arguments = list(c.get_arguments())
        if c.spelling in ERROR_TEXTS or (len(arguments) == 2 and c.spelling in SYMMETRIC):
            return
        for a, b in zip(arguments, arguments[1:]):
            texts = [self.slice(x.extent.start.offset, x.extent.end.offset) for x in (a, b)]
            kinds = [x.type.get_canonical() for x in (a, b)]
            if texts[0] == texts[1] or kinds[0].spelling != kinds[1].spelling or \
                    kinds[0].kind not in INTEGERS + POINTERS[:1] or self.in_macro(a) or self.in_macro(b) or \
                    any(re.search(r'[(=]|\+\+|--|NULL', t) for t in texts):
                continue
            n = self.number(c, 'arguments', ', '.join(texts), ', '.join(texts[::-1]))
            if n is None:
                return
            self.around(a.extent.start.offset, a.extent.end.offset, '(mutant(@%d@) ? (%s) : (' % (n, texts[1]), '))')
            self.around(b.extent.start.offset, b.extent.end.offset, '(mutant(@%d@) ? (%s) : (' % (n, texts[0]), '))')
            return


def instrument(path, flags, compiler, header, builtin):
    """Returns the Source for a file, without mutants in lines whose instrumented form does not compile.
    `flags` are the compiler's; clang also needs the directory of its built-in headers."""
    source = Source(path, flags, builtin)
    for _ in range(8):
        source.read()
        done = subprocess.run([compiler, *flags, '-I' + header, '-w', '-fsyntax-only', '-x', 'c', '-iquote',
                               path.rsplit('/', 1)[0], '-'], input=source.result(1), text=True,
                              capture_output=True, check=False)
        if done.returncode == 0:
            return source
        lines = {int(m) for m in re.findall(r'^<stdin>:([0-9]+):[0-9]+: error', done.stderr, re.M)}
        if not lines or lines <= source.bad_lines:
            raise RuntimeError(path + ': ' + done.stderr)
        source.bad_lines |= lines
    raise RuntimeError(path + ': does not compile')
