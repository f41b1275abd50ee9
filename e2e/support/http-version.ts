export type HttpVersion = '1.1' | '2';

/** The version for every client whose suite does not compare both: `ORCH_E2E_HTTP=2 npx jest e2e/crash`. */
const FOR_ALL = process.env['ORCH_E2E_HTTP'];

/** The HTTP version of a client: ORCH_E2E_HTTP, or the choice of the suite. */
export function httpVersion(chosen: HttpVersion): HttpVersion {
  if (FOR_ALL === undefined || FOR_ALL === '') return chosen;
  if (FOR_ALL !== '1.1' && FOR_ALL !== '2')
    throw new Error(`ORCH_E2E_HTTP must be 1.1 or 2, not "${FOR_ALL}"`);
  return FOR_ALL;
}
