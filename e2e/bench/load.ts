/** A load process: it receives one Load, sends `ready` when its connections are open, then the results of the load. */
import { runAttack } from './attacks/attack-load';
import { runHttp2Watches } from './http2-load';
import { runBurst, runProbe } from './burst-load';
import type { Load } from './messages';
import { runEtcd, runRequests } from './request-load';
import { runWatches } from './watch-load';

process.on('disconnect', () => process.exit(0));
process.once('message', (load: Load) => {
  run(load).then(
    (result) => process.send?.(result, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function run(load: Load): Promise<unknown> {
  if (load.kind === 'requests') return runRequests(load);
  if (load.kind === 'watches')
    return load.http2Connections === undefined ? runWatches(load) : runHttp2Watches(load);
  if (load.kind === 'burst') return runBurst(load);
  if (load.kind === 'attack') return runAttack(load);
  return load.kind === 'probe' ? runProbe(load) : runEtcd(load);
}
