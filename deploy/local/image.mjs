/**
 * `npm run image`: builds the image of deploy/Dockerfile with docker, podman or buildah, and prints its name, and its size if it is stored on this
 * machine. `--tag` sets the name, `--builder` selects the builder; all other arguments go to its build command. ORCH_BUILDER_FLAGS come before
 * that command.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { readBuildInfo } from './build-info.mjs';
import { answerHelp, fail, repositoryRoot, runStep, say } from './toolchain.mjs';

/** A program that builds images, with its commands for a check and for the image size in bytes. */
const BUILDERS = {
  docker: { probe: ['info'], size: ['image', 'inspect', '--format', '{{.Size}}'] },
  podman: { probe: ['info'], size: ['image', 'inspect', '--format', '{{.Size}}'] },
  buildah: { probe: ['--version'], size: ['images', '--json'] },
};
const PROBE_TIMEOUT_MS = 20_000;
const MEBIBYTE = 1024 * 1024;

answerHelp(import.meta.url);
const { version } = JSON.parse(readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'));
const { values, tokens } = parseArgs({
  options: { tag: { type: 'string', default: `orch:${version}` }, builder: { type: 'string' } },
  strict: false,
  tokens: true,
});
const own = new Set(tokens.filter(({ name }) => name === 'tag' || name === 'builder').flatMap(indexesOf));
const words = process.argv.slice(2).filter((_word, index) => !own.has(index));
const flags = (process.env.ORCH_BUILDER_FLAGS ?? '').split(' ').filter((word) => word !== '');

const builder = values.builder ?? Object.keys(BUILDERS).find(canBuild);
if (builder === undefined || BUILDERS[builder] === undefined)
  fail(`none of ${Object.keys(BUILDERS).join(', ')} can build here.`);
const { commit, treeState, date } = readBuildInfo(repositoryRoot, process.env, Date.now());
await runStep(builder, [
  ...flags,
  'build',
  '--file=deploy/Dockerfile',
  `--tag=${values.tag}`,
  `--build-arg=VERSION=${version}`,
  `--build-arg=COMMIT=${commit}`,
  `--build-arg=TREE_STATE=${treeState}`,
  `--build-arg=DATE=${date}`,
  // An SBOM and a provenance statement beside the image, which only BuildKit of docker can attach, and only where the image store can hold them.
  ...(builder === 'docker' && process.env.ORCH_IMAGE_ATTESTATIONS !== '0' && hasBuildx()
    ? ['--sbom=true', '--provenance=mode=max']
    : []),
  ...words,
  '.',
]);
// A pushed image is not stored on this machine; an older one may have its name.
const size = words.includes('--push') ? undefined : sizeOf(values.tag);
say(size === undefined ? `built ${values.tag}` : `${values.tag} has ${size}`);

function output(command, args) {
  const { stdout, status } = spawnSync(command, args, { cwd: repositoryRoot, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

function canBuild(name) {
  return spawnSync(name, BUILDERS[name].probe, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0;
}

function hasBuildx() {
  return (
    spawnSync('docker', ['buildx', 'version'], { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0
  );
}

function sizeOf(tag) {
  const text = output(builder, [...flags, ...BUILDERS[builder].size, tag]);
  if (text === '') return undefined;
  if (builder !== 'buildah') return `${Math.round(Number(text) / MEBIBYTE)} MiB`;
  return JSON.parse(text)[0]?.size;
}

function indexesOf({ index, inlineValue }) {
  return inlineValue === false ? [index, index + 1] : [index];
}
