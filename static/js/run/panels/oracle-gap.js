// Gap between the groups of a run and those of the Oracle's wider search at a few times, which is
// computed with the certificate.

import { clock, number, plural } from '../../util/format.js';

const share = (gap) =>
  Math.abs(gap) < 5e-5 ? 'equal' : gap > 0 ? `${number(gap * 100, 2)} % below` : `${number(-gap * 100, 2)} % above`;

/** Text of a gap for a sentence that has already named the best score: '0.4 % below it'. */
const shareOfIt = (gap) => (share(gap) === 'equal' ? 'equal to it' : `${share(gap)} it`);

/** Sentences on the gap; '' without a comparison. search: {moments, regroupings, most_jobs, weight} or {why} */
export function searchSentence(search) {
  if (!search) return '';
  if (search.why) return `No comparison with the Oracle's wider search: ${search.why}.`;
  const { moments, regroupings, most_jobs: most, weight } = search;
  const times = plural(regroupings, 'time');
  if (!moments.length) {
    if (!regroupings) return '';
    const none =
      regroupings === 1 ? 'The only time with new groups was not' : `None of the ${times} with new groups was`;
    return (
      `${none} compared with the Oracle's wider search. ` +
      `Only times with at most ${most} jobs are compared, and only some of them.`
    );
  }
  const gaps = moments.map(({ score, best }) => 1 - score / Math.max(best, 1e-12));
  const worst = gaps.indexOf(Math.max(...gaps));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const at = moments
    .map(({ at_ms: ms, jobs }, i) => `${clock(ms)} with ${plural(jobs, 'job')}: ${share(gaps[i])}`)
    .join('; ');
  return (
    `At ${number(moments.length, 0)} of ${times} with new groups, the score of the groups was compared with the best ` +
    `score of the Oracle's wider search: ${shareOfIt(mean)} on average and ${shareOfIt(gaps[worst])} at worst. ` +
    `${at}. ` +
    'The search, which is not a bound, is exhaustive for up to 8 jobs on up to 24 machines; otherwise it covers ' +
    'all numbers of jobs with up to 24 groups. ' +
    `The score is ${number(weight, 2)} × CPU + ${number(1 - weight, 2)} × network utilization (Harmony, Eq. 4); ` +
    'groups are kept if the gain is below the threshold.'
  );
}
