import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { timeLimited } from './time-limit';

test('a limit ends the wait, also when garbage was collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const ended = once(timeLimited(new AbortController().signal, 20), 'abort');
  // What was made in this turn is held until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  // Keeps the process alive; nothing here waits for it.
  const keepAlive = setTimeout(() => undefined, 10_000);
  expect(await ended).toHaveLength(1);
  clearTimeout(keepAlive);
});

test('the parent ends it earlier, with its reason', () => {
  const parent = new AbortController();
  const signal = timeLimited(parent.signal, 60_000);
  expect(signal.aborted).toBe(false);
  parent.abort(new Error('gone'));
  expect(signal.reason).toEqual(new Error('gone'));
  expect(timeLimited(parent.signal, 60_000).reason).toEqual(new Error('gone'));
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
