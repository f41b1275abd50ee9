/** What `npm run start:ha` runs: three etcd members, three API servers behind a balancer, two controller-managers. */
import { print, runInForeground } from './foreground';
import { startHaStages } from './ha-set';
import { freePort, isPortFree } from './ports';
import type { LocalOptions } from './start';
import { welcome } from './welcome';

/** Runs until a signal or a failure; resolves to the exit code. */
export async function startHa(options: LocalOptions): Promise<number> {
  const { controllers, dataDir, dialect, listen } = options;
  const port = options.port ?? (await freePort(listen));
  if (!(await isPortFree(port, listen))) {
    process.stderr.write(`orch: port ${String(port)} on ${listen} is in use. Choose another with --port.\n`);
    return 1;
  }
  print('starting three etcd members, three API servers, a balancer and two controller-managers');
  return runInForeground(async (add) => {
    const { programs, ...set } = await startHaStages({ controllers, dataDir, dialect, listen, port }, add);
    const rows = programs.map(
      ({ name, pid, at }) => `    ${name.padEnd(20)} pid ${String(pid).padEnd(8)} ${at}`,
    );
    print(`${welcome({ ...set, dialect, dataDir, searchPath: process.env['PATH'] ?? '' })}
  What ended is started again, so try kill -9 on any of these:
${rows.join('\n')}
`);
  });
}
