import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import tty from 'node:tty';
import { watchDataDirectory } from './data-directory';
import { findLastError as findLastErrorOfEtcd } from './etcd-cluster';
import { keepRunning, runInForeground, stageOf } from './foreground';
import type { StartedProcess } from './started-process';
import { findLastError, startProcess } from './started-process';
import { quoteWord, welcome } from './welcome';
import { eventually } from '../../shared/testing/eventually';

const GRACE_MS = 1_000;
let dir = '';
let written: string[] = [];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'orch-foreground-'));
  written = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

async function startShell(script: string): Promise<StartedProcess> {
  return startProcess({ name: 'program', command: 'sh', args: ['-c', script] });
}

test('the failure of a program has its exit code and the last error of its log', async () => {
  const program = await startShell(
    'echo "[05:00:00.000] INFO: serving"; echo "[05:00:00.001] ERROR: cannot serve: disk full"; exit 3',
  );
  expect(await stageOf(program, GRACE_MS).failed).toEqual({
    reason: 'program stopped with exit code 3: cannot serve: disk full',
    exitCode: 3,
  });
});

test('errors are found in the log of the programs, on stderr and in the log of etcd', () => {
  expect(findLastError(['[1] WARN: a', 'x'])).toBeUndefined();
  expect(findLastError(['orch-apiserver: unknown flag', 'Run orch-apiserver --help for all flags.'])).toBe(
    'unknown flag',
  );
  const fatal = '{"level":"fatal","msg":"discovery failed","error":"member has already been bootstrapped"}';
  expect(findLastErrorOfEtcd(`ing"}\n{"level":"warn","msg":"slow"}\n${fatal}\n`)).toBe(
    'discovery failed: member has already been bootstrapped',
  );
  expect(findLastErrorOfEtcd('{"level":"warn","msg":"slow"}')).toBeUndefined();
});

test('the new process id of a restarted program is printed', async () => {
  const started: StartedProcess[] = [];
  const stage = await keepRunning(async () => {
    const program = await startShell('sleep 600');
    started.push(program);
    return program;
  }, GRACE_MS);
  started[0]?.signal('SIGKILL');
  await eventually('the program runs again', async () => written.length >= 2);
  expect(written).toEqual([
    'orch: program stopped with signal SIGKILL; starting it again\n',
    `orch: program runs again, pid ${String(started[1]?.pid)}\n`,
  ]);
  await stage.stop();
});

test('Ctrl-C that npm forwards too stops the stages in order', async () => {
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const stopped: string[] = [];
  const makeStage = (name: string) => ({
    failed: new Promise<never>(() => undefined),
    stop: async () => Promise.resolve(void stopped.push(name)),
  });
  const running = runInForeground(async (add) => {
    add(makeStage('first'));
    add(makeStage('second'));
    return Promise.resolve();
  });
  process.emit('SIGINT');
  process.emit('SIGINT');
  expect(await running).toBe(0);
  expect(exit).not.toHaveBeenCalled();
  expect(stopped).toEqual(['second', 'first']);
  expect(written).toEqual(['orch: stopped\n']);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
});

test.each([
  ['ends the set', true],
  ['does not end a set without a terminal, as under nohup', false],
])('SIGHUP %s', async (_what, hasTerminal) => {
  jest.spyOn(tty, 'isatty').mockReturnValue(hasTerminal);
  let hasEnded = false;
  const running = runInForeground(async () => Promise.resolve());
  void running.then(() => {
    hasEnded = true;
  });
  process.emit('SIGHUP');
  await nextTurn();
  expect(hasEnded).toBe(hasTerminal);
  process.emit('SIGTERM');
  expect(await running).toBe(0);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
});

test('a set ends when its data directory is removed, and reports files that vanish', async () => {
  const dataDir = path.join(dir, 'set');
  const storeDir = path.join(dataDir, 'data');
  mkdirSync(storeDir, { recursive: true });
  for (const file of ['tokens.csv', 'data/1.ldb']) writeFileSync(path.join(dataDir, file), 'x');
  const stage = watchDataDirectory(dataDir, storeDir);
  const stat = jest.spyOn(fs, 'statSync').mockImplementation(() => {
    throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
  });
  await eventually('the directory cannot be checked', async () => stat.mock.calls.length > 0);
  stat.mockRestore();
  rmSync(path.join(storeDir, '1.ldb'));
  rmSync(path.join(dataDir, 'tokens.csv'));
  await eventually('the missing file is reported', async () => written.length > 0);
  expect(written.join('')).toContain(`gone or not readable: ${dataDir}/tokens.csv. `);
  rmSync(dataDir, { recursive: true });
  // Another directory in its place has none of the data.
  mkdirSync(dataDir);
  expect(await stage.failed).toEqual({
    reason: `the data directory ${dataDir} was removed or replaced`,
    exitCode: 1,
  });
  expect(written).toHaveLength(1);
  await stage.stop();
});

test('the welcome text quotes paths, and has a command of curl where kubectl is missing', () => {
  const facts = {
    server: 'https://192.0.2.1:6443',
    dialect: 'orch',
    dataDir: "/a b/it's",
    kubeconfig: "/a b/it's/kubeconfig",
    caFile: '/a b/ca.crt',
    tokenFile: '/a b/tokens.csv',
  } as const;
  writeFileSync(path.join(dir, 'kubectl'), '');
  const withKubectl = welcome({ ...facts, searchPath: `/nowhere:${dir}` });
  expect(withKubectl).toContain(`export KUBECONFIG='/a b/it'\\''s/kubeconfig'\n`);
  expect(withKubectl).toContain('kubectl get');
  const without = welcome({ ...facts, searchPath: '/nowhere' });
  expect(without).not.toContain('    kubectl ');
  expect(without).toContain(
    `curl --cacert '/a b/ca.crt' -H "Authorization: Bearer $(sed 's/,.*//;q' '/a b/tokens.csv')" https://192.0.2.1:6443/`,
  );
  expect(quoteWord('/plain/path-1.2')).toBe('/plain/path-1.2');
});
