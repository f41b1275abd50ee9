/** A program: a tenant that sends far too much, told by its first message whom, and by its second to stop; it answers with what came back. */
import { constants, setPriority } from 'node:os';
import type { StormOrder, StormReport } from './storm-process';
import { storm } from './storm';

const over = new AbortController();

process.on('disconnect', () => process.exit(0));
process.once('message', ({ tenant, size, priority = constants.priority.PRIORITY_LOW }: StormOrder) => {
  // What it costs to send and to read must not be taken from those that answer.
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
