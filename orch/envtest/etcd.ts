#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { makeDirectory } from '../../shared/files/make-directory';
import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import { writeHelp } from '../../shared/flags/help';
import { parseFlags } from '../../shared/flags/parse-flags';
import { parseVersionFlag } from '../../shared/flags/version-flag';
import { ETCD_FOREIGN_FLAGS } from './etcd-foreign-flags';
import { runProgram } from './run-program';
import type { StoreReport } from './store-report';
import { STORE_PATH } from './store-report';

const PROGRAM = 'etcd';
const SUMMARY =
  'Answers the probes that test frameworks send to etcd, and reports to the kube-apiserver beside it where to keep its objects. It stores nothing itself.';
const EXIT = { ok: 0, usage: 2 } as const;

const FLAGS = [
  {
    name: 'listen-client-urls',
    type: 'stringList',
    default: ['http://localhost:2379'],
    group: 'Client',
    help: 'The addresses that answer probes.',
  },
  {
    name: 'listen-metrics-urls',
    type: 'stringList',
    default: [],
    group: 'Client',
    help: 'More addresses that answer probes.',
  },
  {
    name: 'name',
    type: 'string',
    default: 'default',
    group: 'Store',
    help: 'The name in the default of --data-dir.',
  },
  {
    name: 'data-dir',
    type: 'string',
    default: '',
    group: 'Store',
    help: 'The directory of the objects; NAME.etcd if empty.',
  },
  {
    name: 'unsafe-no-fsync',
    type: 'bool',
    default: false,
    group: 'Store',
    help: 'Writes are not synchronized with the disk, so that a crash of the machine can lose them.',
  },
  {
    name: 'cert-file',
    type: 'string',
    default: '',
    group: 'TLS',
    help: 'The certificate of https addresses.',
  },
  { name: 'key-file', type: 'string', default: '', group: 'TLS', help: 'The private key of --cert-file.' },
  {
    name: 'trusted-ca-file',
    type: 'string',
    default: '',
    group: 'TLS',
    help: 'The authorities of client certificates.',
  },
  {
    name: 'client-cert-auth',
    type: 'bool',
    default: false,
    group: 'TLS',
    help: 'Clients without a certificate of --trusted-ca-file are refused.',
  },
] as const satisfies readonly FlagRow[];

type Flags = FlagValues<typeof FLAGS>;

async function main(given: readonly string[], stop: AbortSignal): Promise<number> {
  const version = parseVersionFlag(PROGRAM, given);
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  // etcd uses Go's own flags, of which one dash is enough.
  const argv = version.argv.map((word) => (/^-[a-z]/u.test(word) && word !== '-h' ? `-${word}` : word));
  const parsed = parseFlags(FLAGS, argv, ETCD_FOREIGN_FLAGS);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAGS, { program: PROGRAM, summary: SUMMARY, foreign: ETCD_FOREIGN_FLAGS });
    return EXIT.ok;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  for (const warning of parsed.warnings) process.stderr.write(`${PROGRAM}: ${warning}\n`);
  const { values } = parsed;
  const directory = path.resolve(values.dataDir === '' ? `${values.name}.etcd` : values.dataDir);
  makeDirectory(directory, 0o700);
  const report: StoreReport = { directory: path.join(directory, 'orch'), isSynced: !values.unsafeNoFsync };
  const urls = [...values.listenClientUrls, ...values.listenMetricsUrls];
  const servers = await Promise.all(urls.map(async (url) => listen(new URL(url), values, answerer(report))));
  await new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true });
    if (stop.aborted) resolve();
  });
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  return EXIT.ok;
}

/** The answers of etcd's HTTP interface that probes read, and the report for our API server. */
function answerer(report: StoreReport): RequestListener {
  const answers: Readonly<Record<string, string>> = {
    '/health': JSON.stringify({ health: 'true', reason: '' }),
    '/livez': 'ok\n',
    '/readyz': 'ok\n',
    [STORE_PATH]: JSON.stringify(report),
  };
  return (request, response) => {
    const [where = ''] = (request.url ?? '').split('?');
    const body = Object.hasOwn(answers, where) ? answers[where] : undefined;
    response.statusCode = body === undefined ? 404 : 200;
    response.end(body ?? '404 page not found\n');
  };
}

async function listen(url: URL, flags: Flags, answer: RequestListener): Promise<Server> {
  const server = url.protocol === 'https:' ? createTlsServer(readTls(flags), answer) : createServer(answer);
  const host = url.hostname.replace(/^\[(.*)\]$/u, '$1');
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(url.port), host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  process.stderr.write(`${PROGRAM}: serving ${url.protocol}//${url.hostname}:${String(port)}\n`);
  return server;
}

function readTls({ certFile, keyFile, trustedCaFile, clientCertAuth }: Flags): object {
  if (certFile === '' || keyFile === '') {
    throw new Error('an https address needs --cert-file and --key-file');
  }
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ...(trustedCaFile === '' ? {} : { ca: readFileSync(trustedCaFile) }),
    requestCert: clientCertAuth,
    rejectUnauthorized: clientCertAuth,
  };
}

function refuse(errors: readonly string[]): number {
  for (const error of errors) process.stderr.write(`${PROGRAM}: ${error}\n`);
  return EXIT.usage;
}

runProgram(PROGRAM, async (stop) => main(process.argv.slice(2), stop));
