import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { connect } from 'orch/client';
import { runOperator } from './run-operator';
import { serveWebhook } from './serve-webhook';

/** The operator as a program: every process serves the webhook, one at a time reconciles. */
async function main(certDir: string): Promise<void> {
  const client = connect();
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)));
  const cert = readFileSync(path.join(certDir, 'tls.crt'), 'utf8');
  const key = readFileSync(path.join(certDir, 'tls.key'), 'utf8');
  const webhook = await serveWebhook({ client, cert, key, port: 9443 });
  try {
    const identity = `${hostname()}-${String(process.pid)}`;
    const end = await runOperator(client, { identity }, stop.signal);
    // Another process leads; a restart makes this one a candidate again.
    if (end === 'lost') process.exitCode = 1;
  } finally {
    await webhook.close();
    client.close();
  }
}

main(process.env['CERT_DIR'] ?? '/certs').catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
