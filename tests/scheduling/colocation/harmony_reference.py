"""Slow, straightforward forms of Harmony's steps, job by job and group by group, and brute force."""

import itertools
import math

import numpy as np

from scheduling.colocation.selection.grouping import Work


def work(rng, jobs, machines, zeros=False, memory=False):
    """Random jobs whose computation on a tenth of the machines is about as long as their communication."""
    comm = 5_000 * np.exp(0.5 * rng.standard_normal(jobs))
    comp = comm * max(1, machines // 6) * np.exp(0.6 * rng.standard_normal(jobs))
    if zeros:
        comm[rng.random(jobs) < 0.2] = 0.0
        comp[rng.random(jobs) < 0.2] = 0.0
    parts = (rng.uniform(0, 0.5, jobs), rng.uniform(0, 1.5, jobs)) if memory else (np.zeros(jobs), np.zeros(jobs))
    return Work(comp, comm, machines, *parts)


def eq1(group):
    """[(comp ms, comm ms)] -> ms"""
    return max(sum(c for c, _ in group), sum(n for _, n in group), max(c + n for c, n in group), 1e-6)


def value(group, weight=0.8):
    """The score of one group: its utilization by Eq. (3)."""
    period = eq1(group)
    return weight * (sum(c for c, _ in group) / period) + (1 - weight) * (sum(n for _, n in group) / period)


def number_of_groups(comp, comm, machines):
    """The last n that minimizes the sum, up to rounding."""
    sums = [
        sum(abs(c * n / machines - t) for c, t in zip(comp, comm, strict=True))
        for n in range(1, min(len(comp), machines) + 1)
    ]
    return max(n for n, total in enumerate(sums, start=1) if total <= min(sums) * (1 + 1e-12) + 1e-300)


def adams(ratio, machines, floors):
    """One at a time, to the group that needs one most."""
    counts = list(floors)
    for _ in range(machines - sum(counts)):
        counts[max(range(len(counts)), key=lambda g: (ratio[g] / counts[g], -g))] += 1
    return counts


def blocks(work, count, groups):
    """Lists of jobs."""
    times = [work.comp[j] * (groups / work.machines) + work.comm[j] for j in range(count)]
    order = sorted(range(count), key=lambda j: (-times[j], j))
    out = []
    for g in range(groups):
        size = count // groups + (g < count % groups)
        out.append(order[:size])
        order = order[size:]
    return out


def swapped(one, i, other, j):
    """Both groups after the i-th job of one and the j-th of the other changed places."""
    return [*one[:i], other[j], *one[i + 1 :]], [*other[:j], one[i], *other[j + 1 :]]


def rounds_of_swaps(work, lists, groups, enough=1e-4):
    """The couples of a round decide on the same state; the groups after all rounds."""
    factor = groups / work.machines
    pair = {j: (work.comp[j] * factor, work.comm[j]) for own in lists for j in own}
    lists = [list(own) for own in lists]
    if groups < 2:
        return lists
    for _ in range(12):
        sums = [(sum(pair[j][0] for j in own), sum(pair[j][1] for j in own)) for own in lists]
        lean = [(comp - comm) / max(comp + comm, 1e-6) for comp, comm in sums]
        order = sorted(range(groups), key=lambda g: (-lean[g], g))
        rise = 0.0
        for k in range(groups // 2):
            heavy, light = lists[order[k]], lists[order[groups - 1 - k]]
            tilts = [sums[g][0] - sums[g][1] for g in (order[k], order[groups - 1 - k])]
            wanted = (tilts[0] - tilts[1]) / 2
            options = [
                (abs((pair[a][0] - pair[a][1] - wanted) - (pair[b][0] - pair[b][1])), i, j)
                for i, a in enumerate(heavy) for j, b in enumerate(light)
            ]  # fmt: skip
            _, i, j = min(options)
            before = value([pair[a] for a in heavy]) + value([pair[b] for b in light])
            new_heavy, new_light = swapped(heavy, i, light, j)
            after = value([pair[a] for a in new_heavy]) + value([pair[b] for b in new_light])
            if after - before > 1e-12:
                lists[order[k]], lists[order[groups - 1 - k]] = new_heavy, new_light
                rise += after - before
        if rise <= enough * groups:
            break
    return lists


def swaps_one_by_one(work, lists, groups):
    """The swap, literally: the most imbalanced group and its best complement, until nothing is left to try."""
    factor = groups / work.machines
    pair = {j: (work.comp[j] * factor, work.comm[j]) for own in lists for j in own}
    lists = [list(own) for own in lists]
    frozen: set[int] = set()
    for _ in range(4 * groups):
        tilt = [sum(pair[j][0] - pair[j][1] for j in own) for own in lists]
        size = [sum(sum(pair[j]) for j in own) for own in lists]
        free = [g for g in range(groups) if g not in frozen]
        if not free or groups < 2:
            break
        p = max(free, key=lambda g: abs(tilt[g]) / size[g])
        q = min((g for g in range(groups) if g != p), key=lambda g: math.copysign(1, tilt[p]) * tilt[g] / size[g])
        options = []
        for i, a in enumerate(lists[p]):
            for j, b in enumerate(lists[q]):
                x = pair[a][0] - pair[a][1] - pair[b][0] + pair[b][1]
                options.append(((tilt[p] - x) ** 2 + (tilt[q] + x) ** 2, i, j))
        before = value([pair[a] for a in lists[p]]) + value([pair[b] for b in lists[q]])
        for squares, i, j in sorted(options)[:4]:
            new_p, new_q = swapped(lists[p], i, lists[q], j)
            after = value([pair[a] for a in new_p]) + value([pair[b] for b in new_q])
            if squares < 0.999 * (tilt[p] ** 2 + tilt[q] ** 2) and after > before:
                lists[p], lists[q] = new_p, new_q
                frozen -= {p, q}
                break
        else:
            frozen.add(p)
    return lists


def allocated(work, lists):
    """(machines of each group, cluster-wide score); (None, -1) where memory lacks."""
    floors = [
        max(1, math.ceil(sum(work.spread[j] for j in own) + max(work.peak[j] for j in own) - 1e-9)) for own in lists
    ]
    if sum(floors) > work.machines:
        return None, -1.0
    ratio = [sum(work.comp[j] for j in own) / max(sum(work.comm[j] for j in own), 1e-9) for own in lists]
    counts = adams(ratio, work.machines, floors)
    total = sum(
        m * value([(work.comp[j] / m, work.comm[j]) for j in own]) for own, m in zip(lists, counts, strict=True)
    )
    return counts, total / work.machines


def evaluate(work, count, groups):
    lists = rounds_of_swaps(work, blocks(work, count, groups), groups)
    return lists, *allocated(work, lists)


def partitions(items):
    """Every way to put the items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            group = [first, *others]
            for more in partitions([x for x in rest if x not in others]):
                yield [group, *more]


def compositions(total, parts):
    """Every way to write total as a sum of so many numbers >= 1."""
    if parts == 1:
        yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def best_of_all(work):
    """The score of the best grouping of any jobs on all machines."""
    best = -1.0
    jobs = range(len(work.comp))
    for size in range(1, len(work.comp) + 1):
        for chosen in itertools.combinations(jobs, size):
            for lists in partitions(list(chosen)):
                if len(lists) > work.machines:
                    continue
                for counts in compositions(work.machines, len(lists)):
                    fits = all(
                        m >= math.ceil(sum(work.spread[j] for j in own) + max(work.peak[j] for j in own) - 1e-9)
                        for own, m in zip(lists, counts, strict=True)
                    )
                    if fits:
                        total = sum(
                            m * value([(work.comp[j] / m, work.comm[j]) for j in own])
                            for own, m in zip(lists, counts, strict=True)
                        )
                        best = max(best, total / work.machines)
    return best
