/**
 * `npm run generate`: writes the types of `shared/api/types` from the tables, even if the program does not compile with them, the files that
 * are generated from the chart, and the table of clients in the README.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { answerHelp, repositoryRoot, runPackage, runStep } from './toolchain.mjs';

answerHelp(import.meta.url);
await runPackage('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--noCheck']);

const require = createRequire(import.meta.url);
const { generateTypes } = require('../../dist/shared/schema/generate-types.js');
const folder = path.join(repositoryRoot, 'shared', 'api', 'types');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, text] of generateTypes()) writeFileSync(path.join(folder, name), text);

await runStep(process.execPath, ['deploy/local/chart-readme.mjs']);
await runStep(process.execPath, ['deploy/local/works-with.mjs']);
await runStep(process.execPath, ['deploy/local/manifests.mjs']);
