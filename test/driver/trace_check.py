"""trace_check.py [--threads] FILE...: checks traces with Python's JSON parser.

Checks that each trace is well formed and that spans are nested. Without --threads, also checks that
the times spent in a call's parts add up to the call's time. Prints a line "call NAME", "part NAME",
"process N", "dataset PATH" or "variable NAME" for each of these objects in the traces."""
import json
import sys
from collections import defaultdict

SLACK = 0.01  # microseconds; rounding error of doubles of this magnitude


def events_of(path):
    lines = open(path, encoding='utf-8').read().split('\n')
    assert lines[0] == '[' and lines[-1] == '', f'{path}: it does not begin or end as it must'
    for number, line in enumerate(lines[1:-1], 2):
        assert line.endswith(','), f'{path}:{number}: {line}'
        yield json.loads(line[:-1])
    whole = ''.join(lines).rstrip(',') + ']'
    assert isinstance(json.loads(whole), list)


def check_nesting(spans):
    """Checks that the spans in one thread are nested or disjoint."""
    spans.sort(key=lambda e: (e['ts'], -e['dur']))
    open_ends = []
    for e in spans:
        end = e['ts'] + e['dur']
        while open_ends and open_ends[-1] <= e['ts'] + SLACK:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + SLACK, f'across another: {e}'
        open_ends.append(end)


def check_sums(spans):
    """Checks that the times spent in a call's parts and in the call itself add up to its time."""
    for call in (e for e in spans if e['cat'] == 'call'):
        calls = call['args']['calls'].values()
        within = [e for e in spans if e['cat'] == 'part' and e['ts'] >= call['ts'] - SLACK and
                  e['ts'] + e['dur'] <= call['ts'] + call['dur'] + SLACK]
        own = sum(e['args'].get('own', e['dur']) for e in within)
        own += sum(p['us'] for p in call['args'].get('parts', {}).values())
        own += sum(c['own'] for c in calls)
        time = sum(c['us'] for c in calls)
        n = sum(c['n'] for c in calls) + len(within) + 20
        assert abs(own - time) <= n * SLACK, f'{own} and not {time}: {call}'
        assert time <= call['dur'] + n * SLACK, call


def main():
    seen, threads, alone = set(), defaultdict(list), '--threads' not in sys.argv
    for path in (a for a in sys.argv[1:] if a != '--threads'):
        for e in events_of(path):
            assert isinstance(e['pid'], int) and e['ts'] > 0, e
            if e['ph'] == 'X':
                assert e['cat'] in ('call', 'part') and e['dur'] >= 0, e
                threads[e['pid'], e['tid']].append(e)
                seen.add(f"{e['cat']} {e['name']}")
                seen.update(f'call {name}' for name in e['args'].get('calls', {}))
                seen.update(f'part {name}' for name in e['args'].get('parts', {}))
            if e['ph'] == 'i' and e['name'] == 'dataset':
                seen.add(f"dataset {e['args']['path']}")
            if e['ph'] == 'i' and e['name'] == 'variable':
                seen.add(f"variable {e['args']['variable']}")
            seen.add(f"process {e['pid']}")
    for spans in threads.values():
        check_nesting(spans)
        if alone:
            check_sums(spans)
    print('\n'.join(sorted(seen)))


main()
