/**
 * `npm run release`: makes everything that a release publishes, and publishes it to `--registry`. With `--dry-run` it publishes nothing: it checks,
 * writes the files to `--out`, and prints the commands that would publish them, and what the owner must do first. `--out` must be new or empty, or
 * have only files of an earlier run, which it replaces.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTools, TOOL } from './packages.mjs';
import { answerHelp, fail, repositoryRoot, runStep, say } from './toolchain.mjs';

const PLATFORMS = 'linux/amd64,linux/arm64';
/** What the command writes, in any version: it removes a directory that has nothing else. */
const OWN_FILES = /^(?:orch-.*\.tgz|orch\.yaml|RELEASE_NOTES\.md|SHA256SUMS|chart-oci)$/u;
const PLACEHOLDER_REGISTRY = 'registry.example.com/orch';
const MEDIA = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.cncf.helm.config.v1+json',
  chart: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
};

answerHelp(import.meta.url);
const { load } = await import('js-yaml');

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    registry: { type: 'string' },
    out: { type: 'string', default: path.join(repositoryRoot, 'dist', 'release') },
  },
});
const isDryRun = values['dry-run'];
if (values.registry === undefined && !isDryRun)
  fail('--registry is required: where the image and the chart are pushed to.');
const others = existsSync(values.out) ? readdirSync(values.out).filter((name) => !OWN_FILES.test(name)) : [];
if (others.length > 0)
  fail(`--out=${values.out} has other files, such as ${others[0]}; choose a new or empty directory.`);
const registry = values.registry ?? PLACEHOLDER_REGISTRY;
const { version } = JSON.parse(read('package.json'));
const chart = load(read('helm/orch/Chart.yaml'));

const problems = [...findProblems()];
for (const problem of problems) say(`before the release: ${problem}`);
if (problems.length > 0 && !isDryRun) fail('nothing was published.');

const [missing] = ensureTools([TOOL.helm]);
if (missing !== undefined) fail(`the chart is packaged by ${missing}, which cannot be installed here.`);
const helm = path.join(TOOL.helm.folder, ...TOOL.helm.programs);
rmSync(values.out, { recursive: true, force: true });
mkdirSync(values.out, { recursive: true });
await runStep(helm, ['package', path.join('helm', 'orch'), '--destination', values.out]);
const archive = `orch-${chart.version}.tgz`;
writeLayout(path.join(values.out, 'chart-oci'), readFileSync(path.join(values.out, archive)));
copyFileSync(
  path.join(repositoryRoot, 'deploy', 'manifests', 'orch.yaml'),
  path.join(values.out, 'orch.yaml'),
);
writeFileSync(path.join(values.out, 'RELEASE_NOTES.md'), readNotes());
const files = readdirSync(values.out, { withFileTypes: true }).filter((each) => each.isFile());
const sums = files.map(({ name }) => `${digestOf(readFileSync(path.join(values.out, name)))}  ${name}\n`);
writeFileSync(path.join(values.out, 'SHA256SUMS'), sums.join(''));
say(`wrote ${files.map(({ name }) => name).join(', ')}, SHA256SUMS and chart-oci/ to ${values.out}`);

for (const [command, ...words] of [
  // One name for both platforms: BuildKit pushes an image for each, and the index that lists them.
  [
    'node',
    'deploy/local/image.mjs',
    '--builder=docker',
    `--tag=${registry}/orch:${version}`,
    `--platform=${PLATFORMS}`,
    '--push',
  ],
  [helm, 'push', path.join(values.out, archive), `oci://${registry}/charts`],
  ['git', 'tag', '--annotate', `v${version}`, `--message=orch ${version}`],
  ['git', 'push', 'origin', `v${version}`],
])
  if (isDryRun) say(`would run: ${[command, ...words].join(' ')}`);
  else await runStep(command, words);

function* findProblems() {
  if (chart.version !== version || chart.appVersion !== version)
    yield `Chart.yaml has the versions ${chart.version} and ${chart.appVersion}, package.json has ${version}`;
  if (!read('CHANGELOG.md').includes(`\n## ${version}`))
    yield `name the section "Unreleased" of CHANGELOG.md "${version}", with the date`;
  if (read('SUPPORT.md').includes('CONTACT-PLACEHOLDER'))
    yield 'put an address for reports of vulnerabilities into SUPPORT.md, in place of CONTACT-PLACEHOLDER';
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: repositoryRoot, encoding: 'utf8' });
  if (stdout !== '') yield 'commit or remove the changed files of the work tree';
}

/** Returns the section of the changelog: that of the version, or the one that will be. */
function readNotes() {
  const sections = read('CHANGELOG.md').split(/^## /mu).slice(1);
  const found = sections.find((each) => each.split('\n', 1)[0].includes(version));
  if (found === undefined) fail(`CHANGELOG.md has no section for ${version}.`);
  return found.slice(found.indexOf('\n') + 1).trimStart();
}

/** Writes the chart as an OCI image layout, as `helm push` would store it in a registry. */
function writeLayout(folder, content) {
  const blobs = path.join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const store = (mediaType, bytes) => {
    const digest = digestOf(bytes);
    writeFileSync(path.join(blobs, digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const config = store(MEDIA.config, Buffer.from(JSON.stringify(chart)));
  const layers = [store(MEDIA.chart, content)];
  const annotations = {
    'org.opencontainers.image.title': chart.name,
    'org.opencontainers.image.version': chart.version,
  };
  const manifest = { schemaVersion: 2, mediaType: MEDIA.manifest, config, layers, annotations };
  const entry = store(MEDIA.manifest, Buffer.from(JSON.stringify(manifest)));
  const tagged = { ...entry, annotations: { 'org.opencontainers.image.ref.name': chart.version } };
  writeFileSync(path.join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(path.join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [tagged] }));
}

function digestOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function read(file) {
  return readFileSync(path.join(repositoryRoot, file), 'utf8');
}
