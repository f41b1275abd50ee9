import { getEventListeners, once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sleep } from './abort';
import { withTimeLimit } from './time-limit';

test('a limit ends the wait, also when garbage was collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const ended = withTimeLimit(new AbortController().signal, 20, async (signal) => once(signal, 'abort'));
  // Objects created in this turn are held until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  // Keeps the process alive; nothing here waits for it.
  const keepAlive = setTimeout(() => undefined, 10_000);
  expect(await ended).toHaveLength(1);
  clearTimeout(keepAlive);
});

test('the parent ends it earlier, with its reason', async () => {
  const parent = new AbortController();
  const begun = withTimeLimit(parent.signal, 60_000, async (signal) => sleep(60_000, signal));
  parent.abort(new Error('gone'));
  await expect(begun).rejects.toThrow('gone');
  const late = withTimeLimit(parent.signal, 60_000, async (signal) => sleep(60_000, signal));
  await expect(late).rejects.toThrow('gone');
});

test('nothing of it is left when the work has settled, however it did', async () => {
  const parent = new AbortController().signal;
  jest.useFakeTimers();
  try {
    const done = withTimeLimit(parent, 60_000, async () => {
      expect(jest.getTimerCount()).toBe(1);
      expect(getEventListeners(parent, 'abort')).toHaveLength(1);
      return Promise.resolve('done');
    });
    expect(await done).toBe('done');
    await expect(withTimeLimit(parent, 60_000, async () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    expect(jest.getTimerCount()).toBe(0);
    expect(getEventListeners(parent, 'abort')).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
});

test('nothing limits a time in the way that does not work', () => {
  const root = path.join(__dirname, '../..');
  const files = ['apiserver', 'controller-manager', 'shared', 'deploy']
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true }).map((each) =>
        path.join(folder, String(each)),
      ),
    )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const wrong = files.filter((file) =>
    /AbortSignal\.any\([^;]*AbortSignal\.timeout/u.test(
      readFileSync(path.join(root, file), 'utf8').replaceAll(/^ *(\*|\/\/).*$/gmu, ''),
    ),
  );
  expect(wrong).toEqual([]);
});
