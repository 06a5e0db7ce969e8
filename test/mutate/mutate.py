"""Changes the library in many small ways, one at a time, and finds out whether the tests notice it.
dev/mutate documents the options.

1. The sources are copied, and those of the chosen modules are instrumented (mutate_source.py), so
   that one build contains all mutants.
2. Each test is run once without a mutant. This shows its time and the mutants that it reaches.
3. For each chosen mutant, the tests that reach it are run until one fails, those of its own module
   and the fastest first.

A mutant that no test reaches counts as a survivor. equivalent.tsv lists mutants that do not change
what the library does, with the reason; they do not count."""
import argparse
import concurrent.futures
import datetime
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import mutate_source

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = 'journal,burst,blob,subfile,access,twophase,file,cdf,conv'
# Tests that take too long, that look at the sources, or that need the library in another form.
SKIPPED = re.compile(r'/(large|each_fault|redef_faults|soak|one_bad|hostile|small_fs|threads)\.|'
                     r'^test/(house|examples|serial|f77|f90|cxx|support|nc4)/|'
                     r'/(install|reference|header|symbols|completion|man_pages)[a-z_]*\.sh$')


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


class Mutant:
    def __init__(self, path, row):
        self.path, self.module = path, path.split('/')[2]
        self.line, self.place, self.operator, self.before, self.after = row
        self.verdict, self.by, self.number = '', '', 0

    def key(self):
        return self.path, self.place, self.operator, self.before, self.after

    def __str__(self):
        return f'{self.path}:{self.line}: {self.place}: {self.operator}: {self.before[:150]} -> {self.after[:150]}'


class Build:
    """A copy of the sources, and its build."""

    def __init__(self, directory):
        self.root = os.path.abspath(directory)
        self.tree, self.dir = os.path.join(self.root, 'tree'), os.path.join(self.root, 'build')
        self.size, self.environment = 0, {}

    def copy(self):
        """Copies the files that differ, so that make compiles only those. Starts anew if files came or went."""
        names = run('git', '-C', TOP, 'ls-files', '-co', '--exclude-standard').splitlines()
        names = [n for n in names if os.path.isfile(os.path.join(TOP, n))]
        known, text = os.path.join(self.root, 'names'), '\n'.join(names).encode()
        if not os.path.exists(known) or open(known, 'rb').read() != text:
            shutil.rmtree(self.root, ignore_errors=True)
        self.write(known, text)
        for name in names:
            source, target = os.path.join(TOP, name), os.path.join(self.tree, name)
            if not self.is_instrumented(name):
                self.write(target, open(source, 'rb').read())
                shutil.copymode(source, target)

    def is_instrumented(self, name):
        """Returns whether the copy's file is instrumented, and the original has not changed since."""
        original = os.path.join(self.root, 'originals', name)
        return os.path.exists(original) and \
            open(original, 'rb').read() == open(os.path.join(TOP, name), 'rb').read()

    @staticmethod
    def write(path, data):
        if not os.path.exists(path) or open(path, 'rb').read() != data:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as f:
                f.write(data)

    def configure(self):
        if not os.path.exists(os.path.join(self.dir, 'Makefile')):
            os.makedirs(self.dir, exist_ok=True)
            run('autoreconf', '-i', cwd=self.tree)
            run(os.path.join(self.tree, 'configure'), '--disable-shared', '--disable-fortran',
                'MPICC=' + os.environ.get('MPICC', 'mpicc.mpich'), 'CFLAGS=-O1 -g', cwd=self.dir)
        with open(os.path.join(self.root, 'headers.mk'), 'w', encoding='utf-8') as f:
            f.write('include Makefile\nheaders: $(BUILT_SOURCES)\n'
                    'print-mpi:\n\t@echo $(MPICC) $(MPIEXEC) $(mpi_flavour)\n')
        make = ('make', '-s', '-f', os.path.join(self.root, 'headers.mk'))
        run(*make, 'headers', cwd=self.dir)
        mpicc, mpiexec, flavour = run(*make, 'print-mpi', cwd=self.dir).split()
        self.environment = dict(
            os.environ, srcdir=self.tree, MPICC=mpicc, MPIEXEC=mpiexec, MPI_FLAVOUR=flavour,
            NCMPI_YIELD=os.path.join(self.root, 'yield.so'), CMOCKA_MESSAGE_OUTPUT='TAP', UCX_MEM_EVENTS='n',
            NCMPI_TEST_SEED='1', NCMPI_TEST_AMONG='3', NCMPI_TEST_LIMIT='3600', LC_ALL='C')

    def flags(self):
        show = run(self.environment['MPICC'], '-show', '-c', 'x.c').split()
        modules = sorted(os.listdir(os.path.join(self.tree, 'src/lib')))
        return ['-std=gnu11', '-DHAVE_CONFIG_H'] + \
            ['-I' + os.path.join(self.dir, d) for d in ('', 'include', 'src', 'src/lib/cdl')] + \
            ['-I' + os.path.join(self.tree, d) for d in ('include', 'src')] + \
            ['-I' + os.path.join(self.tree, 'src/lib', d) for d in modules] + \
            [w for w in show if w.startswith('-I')]

    def make(self):
        jobs = '-j%d' % os.cpu_count()
        with open(os.path.join(self.root, 'make.log'), 'w', encoding='utf-8') as log:
            for target in ('all', 'check-programs'):
                if subprocess.call(['make', jobs, 'V=0', target], cwd=self.dir, stdout=log, stderr=log):
                    sys.exit('dev/mutate: the build failed: ' + log.name)
        # With --disable-shared, libtool does not build this library.
        run('cc', '-shared', '-fPIC', '-o', os.path.join(self.root, 'yield.so'),
            os.path.join(self.tree, 'test/support/yield.c'), '-ldl')

    def tests(self):
        return [t for t in run('make', '-s', 'print-tests', cwd=self.dir).split() if not SKIPPED.search(t)]

    def perform(self, test, number, limit, reached=''):
        """Runs a test with a mutant. Returns whether it passed in the limit of seconds. `reached` is the path of a
        file in which the test marks the mutants that it reaches."""
        command = {'.unit': [os.path.join(self.dir, test)],
                   '.mpi': ['bash', os.path.join(self.tree, 'test/support/run-mpi'), test],
                   '.sh': ['bash', os.path.join(self.tree, test)]}[os.path.splitext(test)[1]]
        environment = dict(self.environment, NCMPI_MUTANT=str(number), NCMPI_MUTANT_MAP=reached)
        process = subprocess.Popen(command, cwd=self.dir, env=environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return process.wait(limit) in (0, 77)
        except subprocess.TimeoutExpired:
            for sent in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, sent)
                    process.wait(10)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    pass
            return False


def instrument(build, modules, chosen_of):
    """Instruments the sources that have chosen mutants. Returns all mutants, in the order of their numbers."""
    flags = build.flags()
    builtin = os.path.join(run('clang', '-print-resource-dir').strip(), 'include')
    paths = [os.path.join('src/lib', m, f) for m in modules
             for f in sorted(os.listdir(os.path.join(TOP, 'src/lib', m))) if f.endswith('.c')]
    # Reads copies of the original sources, because those in the tree may be instrumented already.
    for path in paths:
        build.write(os.path.join(build.root, 'read', path), open(os.path.join(TOP, path), 'rb').read())
    header = os.path.join(TOP, 'test/mutate')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = list(pool.map(
            lambda p: mutate_source.instrument(os.path.join(build.root, 'read', p), flags, 'gcc', header, builtin),
            paths))
    mutants, first = [Mutant('src/lib/none', (0, '', '', '', ''))], []  # 0 selects no mutant
    for path, source in zip(paths, sources):
        first.append(len(mutants))
        mutants += [Mutant(path, row) for row in source.mutants]
    for number, m in enumerate(mutants):
        m.number = number
    chosen = chosen_of(mutants[1:])
    wanted = {m.path for m in chosen}
    for path, source, number in zip(paths, sources, first):
        original = os.path.join(build.root, 'originals', path)
        if path in wanted:
            text = source.result(number).replace('"mutant.h"', '"' + header + '/mutant.h"', 1)
            build.write(os.path.join(build.tree, path), text.encode())
            build.write(original, source.text)
        elif os.path.exists(original):
            os.remove(original)
            build.write(os.path.join(build.tree, path), source.text)
    build.size = len(mutants)
    return chosen


def survey(build, chosen, slowest):
    """Runs each test without a mutant. Returns {test: (seconds, numbers of the mutants it reaches)}."""
    wanted = {m.number for m in chosen}

    def observe(test):
        path = os.path.join(build.root, 'map.%d' % threading.get_ident())
        with open(path, 'wb') as f:
            f.truncate(build.size)
        since = time.monotonic()
        passed = build.perform(test, 0, slowest, path)
        seconds = time.monotonic() - since
        if not passed and seconds < slowest:
            print(f'{test}: left out, because it fails without a mutant', flush=True)
        with open(path, 'rb') as f:
            return test, seconds, passed and {n for n, byte in enumerate(f.read()) if byte and n in wanted}

    found, tests = {}, build.tests()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, (test, seconds, reached) in enumerate(pool.map(observe, tests)):
            if reached:
                found[test] = seconds, reached
            show(f'test {i + 1} of {len(tests)}')
    return found


def show(text):
    if sys.stdout.isatty():
        print('\r\033[K' + text, end='', flush=True)


def judge(build, tests, m, budget):
    """Runs the tests that reach a mutant until one fails, or until the budget of seconds is used."""
    module = 'test/' + m.module + '/'
    reaching = sorted((not t.startswith(module), seconds, t) for t, (seconds, reached) in tests.items()
                      if m.number in reached)
    used = 0
    for _, seconds, test in reaching:
        if used > 0 and used + seconds > budget:
            continue
        used += seconds
        if not build.perform(test, m.number, 5 + 4 * seconds):
            m.verdict, m.by = 'killed', test
            return
    m.verdict = 'survived' if reaching else 'not reached'


def read_equivalent():
    rows = {}
    with open(os.path.join(TOP, 'test/mutate/equivalent.tsv'), encoding='utf-8') as f:
        for line in f:
            if not line.startswith('#'):
                *key, reason = line.rstrip('\n').split('\t')
                rows[tuple(key)] = reason
    return rows


def report(chosen):
    """Prints the score of each module and the survivors. Returns the score of all modules."""
    total = [0, 0]
    print(f'\n{"module":10} {"mutants":>8} {"killed":>7} {"survived":>9} {"not reached":>12} {"equivalent":>11} {"score":>7}')
    for module in sorted({m.module for m in chosen}):
        own = [m for m in chosen if m.module == module]
        count = {v: sum(m.verdict == v for m in own) for v in ('killed', 'survived', 'not reached', 'equivalent')}
        counted = len(own) - count['equivalent']
        total = [total[0] + count['killed'], total[1] + counted]
        print(f'{module:10} {len(own):8} {count["killed"]:7} {count["survived"]:9} {count["not reached"]:12} '
              f'{count["equivalent"]:11} {100 * count["killed"] / max(counted, 1):6.1f}%')
    for m in chosen:
        if m.verdict in ('survived', 'not reached'):
            print(f'{m.verdict}: {m}')
    score = 100 * total[0] / max(total[1], 1)
    print(f'{total[0]} of {total[1]} mutants killed: {score:.1f} %')
    return score


def main():
    parser = argparse.ArgumentParser(prog='dev/mutate', description=__doc__.split('\n')[0])
    parser.add_argument('directory', help='directory for the copy and its build; may be kept for the next run')
    parser.add_argument('--modules', default=MODULES, help='modules of src/lib (%(default)s)')
    parser.add_argument('--sample', type=int, help='number of mutants to try (all)')
    parser.add_argument('--seed', default='1', help='seed of the sample; "date" chooses a sample for each day')
    parser.add_argument('--budget', type=float, default=120, help='seconds of tests for each mutant (%(default)s)')
    parser.add_argument('--slowest', type=float, default=60, help='leave out slower tests (%(default)s seconds)')
    parser.add_argument('--least', type=float, default=0, help='fail if the score is lower (%(default)s percent)')
    parser.add_argument('--list', action='store_true', help='only list the mutants')
    options = parser.parse_args()
    seed = datetime.date.today().isoformat() if options.seed == 'date' else options.seed
    equivalent = read_equivalent()

    def choose(mutants):
        known = {m.key() for m in mutants}
        for key in equivalent:
            if key not in known and key[0].split('/')[2] in options.modules.split(','):
                print('equivalent.tsv: no such mutant: ' + ': '.join(key))
        if options.sample is None or options.sample >= len(mutants):
            return mutants
        return sorted(random.Random(seed).sample(mutants, options.sample), key=lambda m: m.number)

    build = Build(options.directory)
    build.copy()
    build.configure()
    chosen = instrument(build, options.modules.split(','), choose)
    print(f'{len(chosen)} of {build.size - 1} mutants; seed {seed}', flush=True)
    if options.list:
        print('\n'.join(map(str, chosen)))
        return 0
    build.make()
    tests = survey(build, chosen, options.slowest)
    work = [m for m in chosen if m.key() not in equivalent]
    for m in chosen:
        if m.key() in equivalent:
            m.verdict = 'equivalent'
    print(f'{len(tests)} tests reach them', flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = [pool.submit(judge, build, tests, m, options.budget) for m in work]
        for i, one in enumerate(concurrent.futures.as_completed(done)):
            one.result()
            show(f'mutant {i + 1} of {len(work)}')
    with open(os.path.join(build.root, 'results.tsv'), 'w', encoding='utf-8') as f:
        for m in chosen:
            f.write('\t'.join((m.verdict, m.by, str(m.line), *m.key())) + '\n')
    return report(chosen) < options.least


sys.exit(main())
