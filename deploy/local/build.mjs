/**
 * `npm run build`: compiles into `dist/`, bundles the programs into `dist/bin/`, writes the build information, and stamps the build so that
 * `npm start` knows its age.
 */
import path from 'node:path';
import process from 'node:process';
import { readBuildInfo, writeBuildInfo } from './build-info.mjs';
import { answerHelp, fail, repositoryRoot, runPackage, stampBuild } from './toolchain.mjs';

/** The programs, and the thread that `apiserver/compose/worker/create-offload.ts` starts from its own folder. */
const PROGRAMS = {
  'orch-apiserver': 'apiserver/main',
  'orch-controller-manager': 'controller-manager/main',
  'orch-scheduler': 'controller-manager/scheduler/main',
  'orch-admin': 'deploy/admin/main',
  'orch-convert': 'deploy/convert/main',
  orch: 'orch/main',
  'envtest-etcd': 'orch/envtest/etcd',
  'envtest-kube-apiserver': 'orch/envtest/kube-apiserver',
  thread: 'apiserver/compose/worker/thread',
};

answerHelp(import.meta.url);
// Installed packages are not needed for the help.
const { build } = await import('esbuild');
const startedAt = Date.now();
let info;
try {
  info = readBuildInfo(repositoryRoot, process.env, startedAt);
} catch (error) {
  fail(error.message);
}
await runPackage('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
// One file per program halves the time to start: Node finds and compiles a thousand modules one by one (ADR 75).
const dist = path.join(repositoryRoot, 'dist');
await build({
  entryPoints: Object.entries(PROGRAMS).map(([out, file]) => ({ in: path.join(dist, `${file}.js`), out })),
  outdir: path.join(dist, 'bin'),
  bundle: true,
  platform: 'node',
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
});
writeBuildInfo(repositoryRoot, info);
stampBuild(startedAt);
