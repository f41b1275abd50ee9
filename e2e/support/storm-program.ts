/** A program: a tenant that sends far too much. The first message names the target, the second stops it; the reply has the responses. */
import { constants, setPriority } from 'node:os';
import type { StormOrder, StormReport } from './storm-process';
import { storm } from './storm';

const over = new AbortController();

process.on('disconnect', () => process.exit(0));
process.once('message', ({ tenant, size, priority = constants.priority.PRIORITY_LOW }: StormOrder) => {
  // The cost of the load must not slow down the servers.
  setPriority(priority);
  process.once('message', () => over.abort());
  storm(tenant, size, over.signal).then(
    ({ codes }) => process.send?.([...codes] satisfies StormReport, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
