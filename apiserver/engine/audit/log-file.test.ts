import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { silentLog } from '../../../shared/log/log';
import type { LogFileOptions } from './log-file';
import { openLogFile, standardOutput } from './log-file';
import { LogSink } from './log-sink';
import { oldLogName, tidyOldLogs } from './old-logs';
import { newEvent } from './testing/events';
import { temporaryDirectory } from '../../testing/audit/audited-server';

let dir = '';
let file = '';
beforeEach(() => {
  dir = temporaryDirectory();
  file = path.join(dir, 'logs', 'audit.log');
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

const KEEP_ALL = { backupsMax: 0, ageDaysMax: 0, compress: false };

async function open(options: Partial<LogFileOptions> = {}) {
  return openLogFile({ file, bytesMax: 100, log: silentLog, ...KEEP_ALL, ...options });
}

function names(): string[] {
  return readdirSync(path.dirname(file)).sort();
}

function line(letter: string, length: number): Buffer {
  return Buffer.from(`${letter.repeat(length - 1)}\n`);
}

test('the directory is made, and only the owner may read the file', async () => {
  const log = await open();
  await log.append(line('a', 10));
  await log.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toBe('aaaaaaaaa\n');
});

test('what is in the file stays at the next start', async () => {
  for (const letter of ['a', 'b']) {
    const log = await open();
    await log.append(line(letter, 10));
    await log.close();
  }
  expect(readFileSync(file, 'utf8')).toBe('aaaaaaaaa\nbbbbbbbbb\n');
});

test('a file that would grow beyond its size is put aside, and no line is torn or lost', async () => {
  const log = await open();
  const letters = 'abcdefghij'.split('');
  for (const letter of letters) await log.append(line(letter, 40));
  await log.close();
  const old = names().filter((name) => name !== 'audit.log');
  expect(old).toHaveLength(4);
  expect(old.every((name) => /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/.test(name))).toBe(true);
  const all = [...old, 'audit.log'].map((name) => readFileSync(path.join(dir, 'logs', name), 'utf8'));
  expect(all.every((text) => text.length <= 100)).toBe(true);
  expect(all.join('')).toBe(letters.map((letter) => line(letter, 40).toString()).join(''));
});

test('what alone is longer than a file gets one of its own', async () => {
  const log = await open();
  await log.append(line('a', 10));
  await log.append(line('b', 500));
  await log.append(line('c', 10));
  await log.close();
  expect(names()).toHaveLength(3);
  expect(readFileSync(file, 'utf8')).toBe('ccccccccc\n');
});

test('a file that is full already at the start is put aside by the first line', async () => {
  await (await open()).close();
  writeFileSync(file, line('a', 99));
  const log = await open();
  await log.append(line('b', 10));
  await log.close();
  expect(names()).toHaveLength(2);
  expect(readFileSync(file, 'utf8')).toBe('bbbbbbbbb\n');
});

test('only so many old files are kept, the newest ones', async () => {
  const log = await open({ backupsMax: 2 });
  for (const letter of 'abcdef') await log.append(line(letter, 90));
  await log.close();
  const old = names().filter((name) => name !== 'audit.log');
  expect(old.map((name) => readFileSync(path.join(dir, 'logs', name), 'utf8')[0])).toEqual(['d', 'e']);
});

test('files older than the age by their names are removed, and files of others are left alone', async () => {
  const now = Date.UTC(2021, 4, 10);
  await (await open()).close();
  const day = 86_400_000;
  const [young, old] = [oldLogName(file, now - day), oldLogName(file, now - 3 * day)];
  const others = [
    'audit-notes.log',
    'audit-2021-05-01T00-00-00.000.txt',
    'other-2021-05-01T00-00-00.000.log',
  ];
  for (const each of [young, old, ...others.map((name) => path.join(dir, 'logs', name))])
    writeFileSync(each, 'x');
  await tidyOldLogs(file, { ...KEEP_ALL, ageDaysMax: 2 }, now);
  expect(existsSync(young)).toBe(true);
  expect(existsSync(old)).toBe(false);
  expect(names()).toEqual(expect.arrayContaining(others));
});

test('old files are compressed when that is wanted, and count as before', async () => {
  const log = await open({ compress: true, backupsMax: 3 });
  for (const letter of 'abcdef') await log.append(line(letter, 90));
  await log.close();
  const old = names().filter((name) => name !== 'audit.log');
  expect(old).toHaveLength(3);
  expect(old.every((name) => name.endsWith('.log.gz'))).toBe(true);
  const [first = ''] = old;
  expect(gunzipSync(readFileSync(path.join(dir, 'logs', first))).toString()).toBe(line('c', 90).toString());
});

test('a line that a killed process left unfinished does not swallow the next one', async () => {
  await (await open()).close();
  writeFileSync(file, '{"half":');
  const log = await open();
  await log.append(line('b', 5));
  await log.close();
  expect(readFileSync(file, 'utf8')).toBe('{"half":\nbbbb\n');
});

test('a removed file is recreated at the next rotation', async () => {
  const log = await open();
  await log.append(line('a', 90));
  rmSync(file);
  await log.append(line('b', 90));
  await log.close();
  expect(readFileSync(file, 'utf8')).toBe(line('b', 90).toString());
});

test('the standard output takes lines too, and tells when it does not', async () => {
  const stream = new PassThrough();
  const log = standardOutput(stream);
  await log.append(line('a', 5));
  await log.close();
  expect(String(stream.read())).toBe('aaaa\n');
  stream.on('error', () => undefined).destroy();
  await expect(log.append(line('b', 5))).rejects.toThrow('destroyed');
});

test('a file that cannot be opened is reported at once', async () => {
  writeFileSync(path.join(dir, 'logs'), 'no directory');
  await expect(open()).rejects.toThrow('cannot be made: it is no directory');
});

test('events that come together are written together, in their order', async () => {
  const writes: string[] = [];
  const sink = new LogSink(
    {
      append: async (bytes) => {
        writes.push(bytes.toString());
        return Promise.resolve();
      },
      close: async () => Promise.resolve(),
    },
    ({ fields }) => `${fields.auditId}\n`,
  );
  await Promise.all(['1', '2', '3'].map(async (auditId) => sink.write([newEvent({ auditId })])));
  await sink.write([newEvent({ auditId: '4' })]);
  expect(writes).toEqual(['1\n2\n3\n', '4\n']);
});

test('a failed write is reported to all its events, and later ones are retried', async () => {
  const sink = new LogSink(
    await openLogFile({ file: '/dev/full', bytesMax: 1e6, log: silentLog, ...KEEP_ALL }),
    () => 'x\n',
  );
  const results = await Promise.allSettled([sink.write([newEvent()]), sink.write([newEvent()])]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(sink.write([newEvent()])).rejects.toMatchObject({ code: 'ENOSPC' });
  await sink.close();
});

describe('a disk that does not answer', () => {
  /** A file whose writes end when the test says so. */
  class HeldFile {
    readonly written: string[] = [];
    readonly #held: (() => void)[] = [];
    isClosed = false;

    async append(bytes: Buffer): Promise<void> {
      this.written.push(bytes.toString());
      await new Promise<void>((resolve) => this.#held.push(resolve));
    }

    async close(): Promise<void> {
      this.isClosed = true;
      return Promise.resolve();
    }

    end(): void {
      for (const resolve of this.#held.splice(0)) resolve();
    }
  }

  test('costs the events of its time, and the file is written on by one hand when it is back', async () => {
    const held = new HeldFile();
    const sink = new LogSink(held, ({ fields }) => `${fields.auditId}\n`, { writeMsMax: 100 });
    const write = async (auditId: string): Promise<void> => sink.write([newEvent({ auditId })]);
    await expect(write('1')).rejects.toThrow('not written within 100 ms');
    await expect(write('2')).rejects.toThrow('an earlier write to the audit log is still pending');
    expect(held.written).toEqual(['1\n']);
    held.end();
    await new Promise(setImmediate);
    const third = write('3');
    await new Promise(setImmediate);
    held.end();
    await third;
    expect(held.written).toEqual(['1\n', '3\n']);
    await sink.close();
    expect(held.isClosed).toBe(true);
  });

  test('is not waited for at the end, nor is its file closed under a write', async () => {
    const held = new HeldFile();
    const sink = new LogSink(held, () => '1\n', { writeMsMax: 100 });
    await expect(sink.write([newEvent()])).rejects.toThrow('not written within');
    await sink.close();
    expect(held.isClosed).toBe(false);
  });

  test('fills the memory with no more than so many events', async () => {
    const held = new HeldFile();
    const lines = 'x'.repeat(40 * 1024 * 1024);
    const sink = new LogSink(held, ({ fields }) => (fields.auditId === 'big' ? lines : '1\n'));
    const first = sink.write([newEvent()]);
    await new Promise(setImmediate);
    const second = sink.write([newEvent({ auditId: 'big' })]);
    await expect(sink.write([newEvent({ auditId: 'big' })])).rejects.toThrow('the audit log is too slow');
    held.end();
    await first;
    await new Promise(setImmediate);
    held.end();
    await second;
    expect(held.written).toHaveLength(2);
  });
});
