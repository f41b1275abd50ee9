import type { WriteAttempt } from '../write-attempt';
import { writeInfo } from '../write-context';

/** Lets the kind prepare expensive rules without blocking the event loop. */
// An async function would make a promise for each write of kinds that prepare nothing.
// eslint-disable-next-line typescript/promise-function-async -- see above
export function prepareRules({ asked, object, current }: WriteAttempt): Promise<void> | undefined {
  const { strategy } = asked.request.endpoint.stored;
  return strategy.prepareRules?.(object, current, writeInfo(asked.context, asked.request));
}
