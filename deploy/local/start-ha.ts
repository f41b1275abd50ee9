/** What `npm run start:ha` runs: three etcd members, three API servers behind a balancer, two controller-managers. */
import path from 'node:path';
import { print, runInForeground } from './foreground';
import { startHaStages } from './ha-set';
import { parseLocalOptions } from './options';
import { freePort, isPortFree } from './ports';
import { welcome } from './welcome';

async function main(): Promise<number> {
  const parsed = parseLocalOptions(process.argv.slice(2), process.env, {
    command: 'npm run start:ha',
    dataDir: path.join('.orch', 'ha'),
    port: 'a free one',
  });
  if (!parsed.ok) {
    process.stderr.write(`${parsed.text}\n`);
    return parsed.exitCode;
  }
  const { dataDir, dialect } = parsed.options;
  const port = parsed.options.port ?? (await freePort());
  if (!(await isPortFree(port))) {
    process.stderr.write(`orch: port ${String(port)} on 127.0.0.1 is in use. Choose another with --port.\n`);
    return 1;
  }
  return runInForeground(async (add) => {
    const { server, kubeconfig, programs } = await startHaStages({ dataDir, dialect, port }, add);
    const rows = programs().map(
      ({ name, pid, at }) => `    ${name.padEnd(20)} pid ${String(pid).padEnd(8)} ${at}`,
    );
    print(`${welcome({ server, dialect, dataDir, kubeconfig })}
  What ended is started again, so try kill -9 on any of these:
${rows.join('\n')}
`);
  });
}

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`orch: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
