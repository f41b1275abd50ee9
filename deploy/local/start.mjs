/** `npm start`: installs and builds what is missing, then runs the compiled launcher in this process. */
import { extendPath } from './packages.mjs';
import { ensureBuilt, ensureInstalled, requireNode } from './toolchain.mjs';

requireNode();
ensureInstalled();
ensureBuilt();
extendPath();
await import('../../dist/deploy/local/start.js');
