/** `npm run start:ha`: installs and builds what is missing, then runs the compiled launcher in this process. */
import { ensurePrograms, PROGRAM } from './packages.mjs';
import { ensureBuilt, ensureInstalled, fail, requireNode } from './toolchain.mjs';

requireNode();
const missing = ensurePrograms([PROGRAM.etcd, PROGRAM.balancer]);
if (missing.length > 0)
  fail(`the HA set needs these Debian packages: ${missing.join(', ')}. Install them and start again.`);
ensureInstalled();
ensureBuilt();
await import('../../dist/deploy/local/start-ha.js');
