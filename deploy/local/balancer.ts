import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeDirectory } from '../../shared/files/make-directory';
import { defined } from '../../shared/defined';
import { addressWithPort } from './api-server';
import { LOOPBACK } from './ports';
import type { StartedProcess } from './started-process';
import { startProcess } from './started-process';

export interface BalancerOptions {
  /** The IP address of the listener, which is also that of the replicas; by default the loopback address. */
  readonly listen?: string;
  readonly port: number;
  /** The ports of the replicas. */
  readonly targets: readonly number[];
  /** The authority of the replicas' certificates, for the health checks. */
  readonly caFile: string;
  /** A token that may read `/readyz`. */
  readonly token: string;
  /** The folder of the configuration and other files of the balancer. */
  readonly dir: string;
  readonly onLine?: (line: string) => void;
}

/**
 * Starts haproxy, or else nginx, in front of the replicas. It forwards TCP, so TLS ends in the replica. haproxy probes `/readyz` of each replica
 * over TLS twice a second; nginx only notices failed connections. Throws when neither is on PATH.
 */
export async function startBalancer(options: BalancerOptions): Promise<StartedProcess> {
  const program = findBalancer();
  if (program === undefined) {
    throw new Error(
      'Neither haproxy nor nginx is on PATH. Install one (Debian package haproxy), or run npm run start:ha, which unpacks it.',
    );
  }
  makeDirectory(options.dir, 0o700);
  const file = path.join(options.dir, `${program.name}.conf`);
  const text = program.name === 'haproxy' ? haproxyConfig(options) : nginxConfig(options);
  writeFileAtomically(file, text, 0o600);
  const args =
    program.name === 'haproxy' ? ['-db', '-f', file] : ['-c', file, '-p', options.dir, '-e', 'stderr'];
  return startProcess({
    name: program.name,
    command: program.file,
    args,
    ...defined({ onLine: options.onLine }),
  });
}

interface BalancerProgram {
  readonly name: 'haproxy' | 'nginx';
  readonly file: string;
}

const NGINX_STREAM_MODULES = [
  '/usr/lib/nginx/modules/ngx_stream_module.so',
  '/usr/lib64/nginx/modules/ngx_stream_module.so',
];

function findBalancer(): BalancerProgram | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  for (const name of ['haproxy', 'nginx'] as const) {
    const file = [...folders, '/usr/sbin']
      .map((folder) => path.join(folder, name))
      .find((it) => existsSync(it));
    if (file !== undefined) return { name, file };
  }
  return undefined;
}

/** `0.0.0.0:6443` or `[::]:6443`: unlike {@link addressWithPort} it may be every address of the machine. */
function bindAddress(listen: string, port: number): string {
  return `${isIP(listen) === 6 ? `[${listen}]` : listen}:${String(port)}`;
}

/** Watches can be idle for long, hence the timeouts of an hour. A replica that refuses a connection is skipped at once. */
function haproxyConfig({ listen = LOOPBACK, port, targets, caFile, token }: BalancerOptions): string {
  const servers = targets.map(
    (target, index) =>
      `  server replica-${String(index)} ${addressWithPort(listen, target)} check check-ssl verify required ca-file ${caFile}`,
  );
  return `global
  maxconn 8000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
  retries 3
  option redispatch 1
frontend api
  bind ${bindAddress(listen, port)}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost hdr Authorization "Bearer ${token}" hdr Connection close
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1
${servers.join('\n')}
`;
}

function nginxConfig({ listen = LOOPBACK, port, targets, dir }: BalancerOptions): string {
  const module = NGINX_STREAM_MODULES.find((file) => existsSync(file));
  const servers = targets.map(
    (target) => `    server ${addressWithPort(listen, target)} max_fails=1 fail_timeout=1s;`,
  );
  return `${module === undefined ? '' : `load_module ${module};\n`}daemon off;
worker_processes 1;
pid ${path.join(dir, 'nginx.pid')};
events { worker_connections 8000; }
stream {
  upstream replicas {
${servers.join('\n')}
  }
  server {
    listen ${bindAddress(listen, port)};
    proxy_pass replicas;
    proxy_connect_timeout 2s;
    proxy_timeout 1h;
  }
}
`;
}
