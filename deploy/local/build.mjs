/** `npm run build`: compiles into `dist/`, and stamps it so that `npm start` knows how old the build is. */
import { runStep, stampBuild } from './toolchain.mjs';

const startedAt = Date.now();
runStep('npx', ['--no-install', 'tsc', '-p', 'tsconfig.build.json']);
stampBuild(startedAt);
