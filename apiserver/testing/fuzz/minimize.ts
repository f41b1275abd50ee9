import { placeOf, problemOf } from './run-target';
import type { Finding } from './run-target';
import type { Check } from './target';

const ATTEMPTS_MAX = 1_000;

/** Shortens the input of a finding by removing pieces while the finding stays the same. */
export async function minimized(check: Check, finding: Finding): Promise<Finding> {
  const place = placeOf(finding.problem);
  let { input, problem } = finding;
  let attempts = 0;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < input.length && attempts < ATTEMPTS_MAX;) {
      const shorter = Buffer.concat([input.subarray(0, start), input.subarray(start + size)]);
      attempts += 1;
      const found = await problemOf(check, shorter);
      if (found !== undefined && placeOf(found) === place) {
        input = shorter;
        problem = found;
      } else start += size;
    }
  }
  return { ...finding, input, problem };
}
