/**
 * Writes `deploy/manifests/orch.yaml`, the chart rendered with its defaults, for `kubectl apply -f`; `--check` only compares. It needs helm, which
 * `npm test` installs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { ensureTools, TOOL } from './packages.mjs';
import { answerHelp, fail, repositoryRoot, say } from './toolchain.mjs';

answerHelp(import.meta.url);
const prettier = await import('prettier');

const FILE = path.join(repositoryRoot, 'deploy', 'manifests', 'orch.yaml');
const NAME = 'orch';
const HEAD = `# What the chart makes of its defaults: kubectl apply -f deploy/manifests/orch.yaml
# Made by \`npm run generate\`. Set the image before you apply it: it is called orch:<version> here.
---
apiVersion: v1
kind: Namespace
metadata:
  name: ${NAME}
`;
/** Labels and annotations of helm. */
const OF_HELM = /^ +(?:helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n|^# Source: .*\n/gmu;

const [missing] = ensureTools([TOOL.helm]);
if (missing !== undefined) {
  say(`deploy/manifests is left as it is: no ${missing}`);
  process.exit();
}
const text = await rendered();
if (!process.argv.includes('--check')) {
  mkdirSync(path.dirname(FILE), { recursive: true });
  writeFileSync(FILE, text);
} else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  process.stdout.write('deploy/manifests/orch.yaml is not what the chart makes; run npm run generate.\n');
}

async function rendered() {
  const program = path.join(TOOL.helm.folder, ...TOOL.helm.programs);
  const args = [
    'template',
    NAME,
    path.join('helm', 'orch'),
    '--namespace',
    NAME,
    '--skip-tests',
    '--kube-version=1.21.0',
    '--set=image.repository=orch',
  ];
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: repositoryRoot, encoding: 'utf8' });
  if (status !== 0) fail(stderr);
  const options = await prettier.resolveConfig(FILE);
  return prettier.format(`${HEAD}${stdout.replaceAll(OF_HELM, '')}`, { ...options, parser: 'yaml' });
}
