/** `npm start`: makes a fresh clone ready, then runs the compiled launcher in this same process. */
import { extendPath } from './packages.mjs';
import { ensureBuilt, ensureInstalled, requireNode } from './toolchain.mjs';

requireNode();
ensureInstalled();
ensureBuilt();
extendPath();
await import('../../dist/deploy/local/start.js');
