/** `npm run build`: compiles into `dist/`, writes the build information, and stamps the build so that `npm start` knows its age. */
import process from 'node:process';
import { readBuildInfo, writeBuildInfo } from './build-info.mjs';
import { fail, repositoryRoot, runStep, stampBuild } from './toolchain.mjs';

const startedAt = Date.now();
let info;
try {
  info = readBuildInfo(repositoryRoot, process.env, startedAt);
} catch (error) {
  fail(error.message);
}
runStep('npx', ['--no-install', 'tsc', '-p', 'tsconfig.build.json']);
writeBuildInfo(repositoryRoot, info);
stampBuild(startedAt);
