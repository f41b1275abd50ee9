import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LogOptions } from './pino-log';
import { createProcessLog } from './pino-log';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'log-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function logToFile(options: Omit<LogOptions, 'destination'>) {
  const file = path.join(dir, 'out.log');
  const { log, lastError } = createProcessLog({ ...options, destination: file });
  return { log, lastError, text: () => readFileSync(file, 'utf8') };
}

function catchError(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

test('json puts every line in one object, with the fields of the log and of the line', () => {
  const { log, text } = logToFile({ format: 'json', verbosity: 0 });
  log.child({ part: 'door' }).warn({ port: 6443 }, 'it leaks');
  const line = JSON.parse(text()) as Record<string, unknown>;
  expect(line).toMatchObject({ part: 'door', port: 6443, msg: 'it leaks', level: 40 });
});

test('text shows time, level, message and fields on one line', () => {
  const { log, text } = logToFile({ format: 'text', verbosity: 0 });
  log.info({ port: 6443 }, 'serving');
  expect(text()).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: serving \{"port":6443\}\n$/);
});

test.each(['text', 'json'] as const)('an error is shown with its stack in %s', (format) => {
  const { log, text } = logToFile({ format, verbosity: 0 });
  log.error({ error: new TypeError('torn') }, 'a stage failed');
  expect(text()).toContain('torn');
  expect(text()).toContain('pino-log.test');
});

test.each(['text', 'json'] as const)(
  'a failure of the operating system is logged without a stack in %s',
  (format) => {
    const { log, text } = logToFile({ format, verbosity: 0 });
    const cause = catchError(() => readFileSync(path.join(dir, 'gone')));
    log.warn({ error: new Error('the key cannot be used', { cause }) }, 'failed to reload');
    expect(text()).toContain('the key cannot be used: ENOENT: no such file or directory');
    expect(text()).not.toContain('pino-log.test');
    expect(text().trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  },
);

test.each([
  [0, false],
  [3, false],
  [4, true],
])('with -v=%d debug lines are written: %s', (verbosity, written) => {
  const { log, text } = logToFile({ format: 'json', verbosity });
  log.info({}, 'always');
  log.debug({}, 'sometimes');
  expect(text().includes('sometimes')).toBe(written);
});

test('a line that cannot be written is remembered until one gets through', () => {
  const { log, lastError } = createProcessLog({ format: 'json', verbosity: 0, destination: '/dev/full' });
  expect(lastError()).toBeUndefined();
  log.info({}, 'nowhere to go');
  expect(lastError()?.message).toContain('ENOSPC');
});
