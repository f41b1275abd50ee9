import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DIALECTS } from '../../shared/names';
import { eventually } from '../../shared/testing/eventually';
import { repositoryRoot } from './repository';

/** A clone with sources and without node_modules and dist: nothing is installed or built. */
const clone = mkdtempSync(path.join(tmpdir(), 'orch-launchers-'));
const SOURCES = ['package.json', 'deploy/local', 'e2e/bench/main.ts', 'e2e/robustness/main.ts'];

interface PackageJson {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
}

const { version, scripts } = JSON.parse(
  readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'),
) as PackageJson;

beforeAll(() => {
  for (const folder of ['apiserver', 'controller-manager', 'orch', 'package', 'shared'])
    mkdirSync(path.join(clone, folder));
  for (const file of SOURCES)
    cpSync(path.join(repositoryRoot, file), path.join(clone, file), { recursive: true });
});

afterAll(() => {
  rmSync(clone, { recursive: true, force: true });
});

/** Runs an npm script's command with more words, as npm does. */
function run(command: string, ...words: readonly string[]) {
  const env = { ...process.env, ORCH_BUILD_COMMIT: 'abc', ORCH_DIALECT: undefined };
  return spawnSync('sh', ['-c', [command, ...words].join(' ')], { cwd: clone, env, encoding: 'utf8' });
}

/** One script for each program of the project; `test:rest` runs the same one as `test`. */
const ownScripts = Object.entries(scripts).filter(
  ([name, command]) => command.includes('deploy/local/') && !/^test:(?:rest|all|loaded)$/u.test(name),
);

test('scripts of npm replace the shell, so that a signal to npm reaches the program', () => {
  expect(ownScripts.length).toBeGreaterThan(8);
  expect(Object.entries(scripts).filter(([, command]) => !/(?:^|[= ])exec /u.test(command))).toEqual([]);
});

test.each(ownScripts)(
  'npm run %s -- --help prints help in a clone where nothing is installed',
  (name, command) => {
    const { status, stdout, stderr } = run(command, '--help');
    expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' });
    expect(stdout).toMatch(/npm (?:start|test|run)/u);
    expect(existsSync(path.join(clone, 'node_modules'))).toBe(false);
    expect(existsSync(path.join(clone, 'dist'))).toBe(false);
  },
);

test('a version is printed and a mistake is reported before anything is installed', () => {
  const command = scripts['start'] ?? '';
  expect(run(command, '--version').stdout).toMatch(new RegExp(`^orch ${version} abc \\d{4}-`, 'u'));
  for (const [word, expected] of [
    ['--prot=1', '--prot'],
    ['--port=x', '--port must be a number'],
    ['--listen=localhost', '--listen must be an IP address'],
    ['--dialect=k8s', `--dialect must be ${DIALECTS.join(' or ')}`],
  ] as const) {
    const { status, stderr } = run(command, word);
    expect({ word, status }).toEqual({ word, status: 2 });
    expect(stderr).toContain(expected);
    expect(stderr).toContain('--data-dir');
  }
  expect(existsSync(path.join(clone, 'node_modules'))).toBe(false);
});

test('suites and nightly parts are listed before anything is installed', () => {
  expect(run(scripts['test:nightly'] ?? '', '--list').stdout).toContain('fuzz:');
  expect(run(scripts['test'] ?? '', '--list', '--unit').stdout).toContain('deploy/local/launchers.test.ts');
});

test('SIGTERM during a step of the installation ends all of its processes', async () => {
  const module = path.join(clone, 'deploy', 'local', 'toolchain.mjs');
  const script = `import { runStep } from ${JSON.stringify(module)};
    await runStep('sh', ['-c', 'sleep 600 & echo $!; wait']);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(128 + 15);
  // The system may still be ending it.
  await eventually('the step has ended', async () => !isRunning(Number(line)));
});

test('a release is not written into a directory with other files', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'orch-release-'));
  for (const file of ['orch.yaml', 'mine']) writeFileSync(path.join(folder, file), '');
  const script = path.join(repositoryRoot, 'deploy', 'local', 'release.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--dry-run', `--out=${folder}`], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('has other files, such as mine')]);
  expect(readdirSync(folder).sort()).toEqual(['mine', 'orch.yaml']);
  rmSync(folder, { recursive: true });
});

test('the size of an image is printed only if the image is stored on this machine', () => {
  const docker = path.join(mkdtempSync(path.join(clone, 'docker-')), 'docker');
  const build = (isStored: boolean, ...words: readonly string[]): string => {
    const inspect = isStored ? 'echo 104857600' : 'exit 1';
    writeFileSync(docker, `#!/bin/sh\ncase "$1" in image) ${inspect};; esac\n`, { mode: 0o755 });
    const script = path.join(clone, 'deploy', 'local', 'image.mjs');
    const env = {
      PATH: `${path.dirname(docker)}:/usr/bin:/bin`,
      ORCH_BUILD_COMMIT: 'abc',
      ORCH_IMAGE_ATTESTATIONS: '0',
    };
    const args = [script, '--builder=docker', '--tag=x:1', ...words];
    return spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stdout;
  };
  expect(build(true)).toBe('orch: x:1 has 100 MiB\n');
  expect(build(false, '--platform=linux/amd64,linux/arm64')).toBe('orch: built x:1\n');
  expect(build(true, '--push')).toBe('orch: built x:1\n');
});

function isRunning(pid: number): boolean {
  try {
    // A zombie has ended.
    return !/^State:\s+Z/mu.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('Debian packages', () => {
  const bin = path.join(clone, 'bin');
  const log = path.join(clone, 'commands.log');

  function stub(name: string, script: string): void {
    writeFileSync(path.join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${log}\n${script}\n`, {
      mode: 0o755,
    });
  }

  test('missing programs are unpacked with their libraries below .tools, and no package is installed', () => {
    mkdirSync(bin);
    stub(
      'apt-get',
      `case "$1" in
        --simulate) echo 'Inst libnew (1.0 Debian [amd64])'; echo 'Inst libold [1.0] (2.0 Debian [amd64])';;
        download) shift; for name in "$@"; do touch "$name.deb"; done;;
      esac`,
    );
    stub('dpkg', `mkdir -p "$3/usr/sbin" "$3/usr/lib/x86_64-linux-gnu"; touch "$3/usr/sbin/made-up"`);
    const module = path.join(clone, 'deploy', 'local', 'packages.mjs');
    const script = `import { ensurePrograms } from ${JSON.stringify(module)};
      const program = { names: ['made-up'], debianPackages: ['made-up-server'] };
      const missing = ensurePrograms([program]);
      console.log(JSON.stringify([missing, process.env.PATH, process.env.LD_LIBRARY_PATH]));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      env: { PATH: `${bin}:/usr/bin:/bin` },
    });
    const [missing, searchPath, libraries] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as string[];
    const folder = path.join(clone, '.tools', 'debian');
    expect(missing).toEqual([]);
    expect(searchPath?.split(':')).toContain(path.join(folder, 'usr', 'sbin'));
    expect(libraries).toBe(path.join(folder, 'usr', 'lib', 'x86_64-linux-gnu'));
    const commands = readFileSync(log, 'utf8');
    expect(commands).toContain('apt-get download made-up-server libnew\n');
    expect(commands.split('\n').filter((line) => line.startsWith('apt-get install'))).toEqual([]);
    expect(readdirSync(path.join(clone, '.tools'))).toEqual(['debian']);
  });
});
