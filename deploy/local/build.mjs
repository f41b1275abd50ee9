/**
 * `npm run build`: compiles into `dist/`, bundles the programs into `dist/bin/` and the package into `dist/lib/`, writes the build information, and stamps the build so that
 * `npm start` knows its age.
 */
import process from 'node:process';
import { readBuildInfo, writeBuildInfo } from './build-info.mjs';
import { answerHelp, fail, repositoryRoot, runPackage, stampBuild } from './toolchain.mjs';

answerHelp(import.meta.url);
// Installed packages are not needed for the help.
const { bundlePackage } = await import('./bundle-package.mjs');
const startedAt = Date.now();
let info;
try {
  info = readBuildInfo(repositoryRoot, process.env, startedAt);
} catch (error) {
  fail(error.message);
}
await runPackage('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
await bundlePackage(repositoryRoot);
writeBuildInfo(repositoryRoot, info);
stampBuild(startedAt);
