import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '../../../../../../shared/log/log';
import { StorageError } from '../../../backend';
import { openEmbeddedBackend } from '../embedded-backend';

/**
 * A program for tests that get killed: it opens the store in the first argument and, when the second is a number of writers, writes
 * until it dies, with `compact` as the third also forgetting history all the time. Each line on its standard output is JSON, written with one system call: first `{"open":true}` or
 * `{"open":false,"code":…}`, then one line for every acknowledged write, with its revision, key, and value or null for a delete.
 */
async function main(directory: string, writers: number, isCompacting: boolean): Promise<void> {
  try {
    const backend = await openEmbeddedBackend({ directory, prefix: '/registry', log: silentLog });
    print({ open: true });
    const write = async (writer: number): Promise<void> => {
      const { signal } = new AbortController();
      for (let at = 0; ; at += 1) {
        const key = `/registry/${String(process.pid)}/${String(writer)}/${String(at % 50)}`;
        const { record } = await backend.get(key, signal);
        const value = `${String(at)}-${'x'.repeat(at % 700)}`;
        const isDelete = record !== undefined && at % 7 === 0;
        const outcome = isDelete
          ? await backend.delete(key, record.revision, signal)
          : record === undefined
            ? await backend.create(key, Buffer.from(value), {}, signal)
            : await backend.update(key, Buffer.from(value), { expected: record.revision }, signal);
        if (outcome.ok) print({ revision: outcome.revision, key, value: isDelete ? null : value });
        if (isCompacting && at % 20 === 0 && outcome.ok)
          await backend.compact(outcome.revision - 100, signal);
      }
    };
    await Promise.all(Array.from({ length: writers }, async (_, writer) => write(writer)));
    if (writers === 0) await delay(60_000);
  } catch (error) {
    print({ open: false, code: error instanceof StorageError ? error.code : String(error) });
  }
}

function print(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

void main(process.argv[2] ?? '', Number(process.argv[3] ?? '0'), process.argv[4] === 'compact');
