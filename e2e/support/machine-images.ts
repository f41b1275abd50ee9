import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';

/** An image of buildah: the root folder of its containers, and their configuration. */
export interface Image {
  readonly rootFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly user: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly size: string;
}

export interface MachineImages {
  /** The image of deploy/Dockerfile. */
  readonly orch: Image;
  /** The installed etcd. */
  readonly etcd: Image;
  /** The installed Redis. */
  readonly redis: Image;
  /** Deletes all images. */
  remove(): void;
}

/**
 * Builds the image with buildah without a daemon and without an image registry: the base images are made of installed files. It needs the npm
 * registry.
 */
export function buildMachineImages(dir: string): MachineImages {
  const flags = [`--root=${dir}/store`, `--runroot=${dir}/run`, '--storage-driver=vfs'];
  const buildah = (...args: readonly string[]): string =>
    execFileSync('buildah', [...flags, ...args], { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX }).trim();
  const commit = (name: string, fill: (folder: string) => void, ...config: readonly string[]): void => {
    const container = buildah('from', 'scratch');
    fill(buildah('mount', container));
    if (config.length > 0) buildah('config', ...config, container);
    buildah('umount', container);
    buildah('commit', '--quiet', container, name);
    buildah('rm', container);
  };
  commit('localhost/build', fillBuildImage, `--env=NODE_EXTRA_CA_CERTS=${AUTHORITIES}`);
  commit('localhost/base', (folder) => {
    fillSystem(folder);
    for (const file of librariesOf(process.execPath)) copyInto(folder, file, file);
  });
  commit('localhost/etcd', (folder) => {
    fillSystem(folder);
    for (const name of ['etcd', 'etcdctl']) copyProgram(folder, name);
    // Debian's etcdctl of v3.4 restores snapshots with the arguments of the etcdutl of v3.5.
    renameSync(path.join(folder, 'usr/local/bin/etcdctl'), path.join(folder, 'usr/local/bin/etcdutl'));
  });
  commit('localhost/redis', (folder) => {
    fillSystem(folder);
    copyProgram(folder, 'redis-server');
  });
  const output = execFileSync(
    process.execPath,
    [
      path.join(repositoryRoot, 'deploy', 'local', 'image.mjs'),
      '--builder=buildah',
      `--tag=${IMAGE}`,
      '--isolation=chroot',
      '--quiet',
      '--build-arg=NODE_IMAGE=localhost/build',
      '--build-arg=BASE_IMAGE=localhost/base',
      '--build-arg=ETCD_IMAGE=localhost/etcd',
    ],
    {
      encoding: 'utf8',
      env: { ...process.env, ORCH_BUILDER_FLAGS: flags.join(' ') },
      maxBuffer: OUTPUT_BYTES_MAX,
    },
  );
  const open = (name: string, size: string): Image => {
    const container = buildah('from', name);
    const { config } = (
      JSON.parse(buildah('inspect', '--type=image', name)) as { OCIv1: { config: OciConfig } }
    ).OCIv1;
    return {
      rootFolder: buildah('mount', container),
      env: Object.fromEntries(
        (config.Env ?? []).map((each) => [each.split('=', 1)[0] ?? '', each.slice(each.indexOf('=') + 1)]),
      ),
      workingDir: config.WorkingDir ?? '/',
      user: config.User ?? '',
      labels: config.Labels ?? {},
      size,
    };
  };
  const size = / has (.+)$/mu.exec(output)?.[1] ?? '';
  return {
    orch: open(IMAGE, size),
    etcd: open('localhost/etcd', ''),
    redis: open('localhost/redis', ''),
    remove() {
      buildah('rm', '--all');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface OciConfig {
  readonly Env?: readonly string[];
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly Labels?: Readonly<Record<string, string>>;
}

const IMAGE = 'localhost/orch:e2e';
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const SHELL_PROGRAMS = ['sh', 'env', 'cat', 'cp', 'mkdir', 'rm', 'find', 'uname', 'node'];
const EMPTY_FOLDERS = [
  'tmp',
  'proc',
  'dev',
  'sys',
  'etc/ssl/certs',
  'bin',
  'usr/bin',
  'usr/local/bin',
  'lib64',
];

function fillSystem(folder: string): void {
  for (const name of EMPTY_FOLDERS) mkdirSync(path.join(folder, name), { recursive: true });
  chmodSync(path.join(folder, 'tmp'), 0o1777);
  if (existsSync(AUTHORITIES)) copyFileSync(AUTHORITIES, path.join(folder, AUTHORITIES));
  writeFileSync(
    path.join(folder, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnonroot:x:65532:65532::/tmp:/bin/false\n',
  );
}

/** The programs that the first stage of the Dockerfile calls. */
function fillBuildImage(folder: string): void {
  fillSystem(folder);
  for (const name of SHELL_PROGRAMS) copyProgram(folder, name);
  copyFileSync(path.join(folder, 'usr/local/bin/sh'), path.join(folder, 'bin/sh'));
  copyFileSync(path.join(folder, 'usr/local/bin/env'), path.join(folder, 'usr/bin/env'));
  const npm = path.join(realpathSync(onPath('npm')), '..', '..');
  cpSync(npm, path.join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(folder, 'usr/local/bin', name));
}

function copyProgram(folder: string, name: string): void {
  const file = name === 'node' ? process.execPath : onPath(name);
  copyInto(folder, file, path.join('/usr/local/bin', name));
  for (const library of librariesOf(file)) copyInto(folder, library, library);
}

function copyInto(folder: string, from: string, to: string): void {
  const target = path.join(folder, to);
  mkdirSync(path.dirname(target), { recursive: true });
  if (!existsSync(target)) copyFileSync(realpathSync(from), target);
}

function onPath(name: string): string {
  const found = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((each) => path.join(each, name))
    .find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return found;
}

/** The shared libraries and the loader of a program; none for a static one. */
function librariesOf(file: string): readonly string[] {
  try {
    const text = execFileSync('ldd', [file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return [...text.matchAll(/(\/\S+)/gu)].map(([, library = '']) => library);
  } catch {
    return [];
  }
}

/** All files in a folder, as paths relative to it. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

/** Parses a JSON file of an image. */
export function jsonOf(image: Image, file: string): unknown {
  return JSON.parse(readFileSync(path.join(image.rootFolder, file), 'utf8'));
}
