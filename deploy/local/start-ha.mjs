/** `npm run start:ha`: reads the options, installs and builds what is missing, then runs the compiled launcher in this process. */
import path from 'node:path';
import process from 'node:process';
import { readLocalOptions } from './options.mjs';
import { ensurePrograms, PROGRAM } from './packages.mjs';
import { ensureBuilt, ensureInstalled, fail, requireNode } from './toolchain.mjs';

const options = readLocalOptions('npm run start:ha', {
  dataDir: path.join('.orch', 'ha'),
  port: 'a free one',
});
requireNode();
const missing = ensurePrograms([PROGRAM.etcd, PROGRAM.balancer]);
if (missing.length > 0)
  fail(`the HA set needs these Debian packages: ${missing.join(', ')}. Install them and start again.`);
await ensureInstalled();
await ensureBuilt();
const { startHa } = await import('../../dist/deploy/local/start-ha.js');
startHa(options).then(
  (exitCode) => process.exit(exitCode),
  (error) => fail(error.message),
);
