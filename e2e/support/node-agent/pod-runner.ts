import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StartedProcess } from '../../../deploy/local/started-process';
import { startProcess } from '../../../deploy/local/started-process';
import type { ApiClient } from '../client';
import type { Image } from '../machine-images';
import type { Container, PodSpec, Probe, VolumeSource } from '../pods';
import { sourcesOf } from '../pods';
import { remember } from '../workspace';

export interface PodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  readonly ip: string;
  readonly image: Image;
  /** The folder of this pod; data in `claims` outlives it. */
  readonly dir: string;
  readonly claims: string;
  readonly hostsFile: string;
  /** A client of the host cluster with administrator rights. */
  readonly host: ApiClient;
  readonly hostCaFile: string;
}

/** One pod, whose only container is a local process in the files of the image, with the user of the pod. */
export interface RunningPod {
  readonly name: string;
  readonly ip: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the pod is ready for requests. */
  isReady(): boolean;
  /** The exit code of a process that is not restarted. */
  exitCode(): number | undefined;
  /** The number of restarts. */
  restarts(): number;
  lines(): readonly string[];
  portOf(name: string): number | undefined;
  /** Kills the process with a signal, as in a crash. */
  kill(signal: NodeJS.Signals): void;
  /** Stops the pod as a node agent does: SIGTERM, and SIGKILL after the grace period. Resolves to whether SIGTERM was enough. */
  stop(): Promise<boolean>;
}

/** Starts a pod: it waits for its Secrets and ConfigMaps, is probed, and restarts when it exits, unless it runs once. */
export function runPod(options: PodOptions): RunningPod {
  const pod = new PodRunner(options);
  pod.begin();
  return pod;
}

const POLL_MS = 150;
const RESTART_DELAY_MS = 300;
const MILLISECONDS = 1000;
const GRACE_SECONDS = 30;
const TOKEN_SECONDS = 3600;
const USER = 65_532;
const CHROOT = '/usr/sbin/chroot';
const TOKEN_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

class PodRunner implements RunningPod {
  readonly name: string;
  readonly ip: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly #options: PodOptions;
  readonly #container: Container;
  #program: StartedProcess | undefined;
  #isReady = false;
  #isStopping = false;
  #restarts = -1;
  #exitCode: number | undefined;
  /** The variables from Secrets, as read before the process started. */
  #secretEnv: ReadonlyMap<string, string> = new Map();
  readonly #lines: string[] = [];

  constructor(options: PodOptions) {
    const [container, ...more] = options.spec.containers;
    if (container === undefined || more.length > 0)
      throw new Error(`${options.name} must have one container`);
    this.name = options.name;
    this.ip = options.ip;
    this.labels = options.labels;
    this.#options = options;
    this.#container = container;
  }

  begin(): void {
    void this.#live().catch((error: unknown) => {
      this.#lines.push(String(error));
      this.#exitCode = 1;
    });
  }

  isReady(): boolean {
    return this.#isReady && !this.#isStopping;
  }

  exitCode(): number | undefined {
    return this.#exitCode;
  }

  restarts(): number {
    return Math.max(0, this.#restarts);
  }

  lines(): readonly string[] {
    return this.#lines;
  }

  portOf(name: string): number | undefined {
    return this.#container.ports?.find((port) => port.name === name)?.containerPort;
  }

  kill(signal: NodeJS.Signals): void {
    this.#program?.signal(signal);
  }

  async stop(): Promise<boolean> {
    this.#isStopping = true;
    const grace = this.#options.spec.terminationGracePeriodSeconds ?? GRACE_SECONDS;
    const exit = await this.#program?.stop(grace * MILLISECONDS);
    return exit?.signal !== 'SIGKILL';
  }

  async #live(): Promise<void> {
    while (!this.#isStopping) {
      if (!(await this.#writeVolumes()) || !(await this.#readSecretEnv())) {
        await delay(POLL_MS);
        continue;
      }
      if (this.#isStopping) return;
      this.#restarts += 1;
      const program = await this.#start();
      this.#program = program;
      const probing = this.#probe(program);
      const exit = await program.exited;
      this.#isReady = false;
      await probing;
      const isOnce = ['Never', 'OnFailure'].includes(this.#options.spec.restartPolicy ?? 'Always');
      if (isOnce && (exit.code === 0 || this.#options.spec.restartPolicy === 'Never')) {
        this.#exitCode = exit.code ?? 1;
        return;
      }
      await delay(RESTART_DELAY_MS);
    }
  }

  async #start(): Promise<StartedProcess> {
    const { image, spec, hostsFile, name } = this.#options;
    const root = image.rootFolder;
    const mounts = [
      ...(this.#container.volumeMounts ?? []).map((mount) => ({
        from: this.#folderOf(mount.name),
        to: mount.mountPath,
        isReadOnly: mount.readOnly === true,
      })),
      ...(spec.automountServiceAccountToken === false
        ? []
        : [{ from: path.join(this.#options.dir, 'token'), to: TOKEN_FOLDER, isReadOnly: true }]),
      { from: '/proc', to: '/proc', isReadOnly: false },
      { from: '/dev', to: '/dev', isReadOnly: false },
    ];
    // Only the mount points are created in the image's folder, which its pods share.
    for (const { to } of mounts) mkdirSync(path.join(root, to), { recursive: true });
    const hosts = path.join(root, 'etc/hosts');
    if (!existsSync(hosts)) writeFileSync(hosts, '');
    const script = [
      'set -e',
      `mount --bind '${root}' '${root}'`,
      ...mounts.flatMap(({ from, to, isReadOnly }) => [
        `mount --bind '${from}' '${root}${to}'`,
        ...(isReadOnly ? [`mount -o remount,bind,ro '${root}${to}'`] : []),
      ]),
      `mount --bind '${hostsFile}' '${hosts}'`,
      `mount -o remount,bind,ro '${root}'`,
      'exec env -i "$@"',
    ].join('\n');
    const user = String(USER);
    const chroot = [CHROOT, `--userspec=${user}:${user}`, `--groups=${user}`, root];
    const command = [...(this.#container.command ?? []), ...(this.#container.args ?? [])].map((word) =>
      this.#expanded(word),
    );
    const env = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...image.env, ...this.#env() }).map(
      ([key, value]) => `${key}=${value}`,
    );
    const words = ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', ...env, ...chroot, ...command];
    return remember(
      await startProcess({
        name,
        command: 'unshare',
        args: words,
        onLine: (line) => {
          this.#lines.push(line);
        },
      }),
    );
  }

  #env(): Readonly<Record<string, string>> {
    const { host, ip, name } = this.#options;
    const fields: Readonly<Record<string, string>> = { 'status.podIP': ip, 'metadata.name': name };
    const { hostname, port } = new URL(host.server);
    return {
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      ...Object.fromEntries(
        (this.#container.env ?? []).map((each) => [
          each.name,
          each.value ??
            fields[each.valueFrom?.fieldRef?.fieldPath ?? ''] ??
            this.#secretEnv.get(each.name) ??
            '',
        ]),
      ),
    };
  }

  #expanded(word: string): string {
    const env = this.#env();
    return word.replaceAll(/\$\((\w+)\)/gu, (whole, name: string) => env[name] ?? whole);
  }

  #folderOf(volume: string): string {
    const { spec, dir, claims } = this.#options;
    const found = (spec.volumes ?? []).find((each) => each.name === volume);
    // A claim of a StatefulSet is not among the volumes of its template.
    const claim = found === undefined ? `${volume}-${this.name}` : found.persistentVolumeClaim?.claimName;
    return claim === undefined ? path.join(dir, volume) : path.join(claims, claim);
  }

  /** False while a Secret or ConfigMap of the pod is missing. */
  async #writeVolumes(): Promise<boolean> {
    const { spec, dir, host, namespace, hostCaFile } = this.#options;
    for (const volume of spec.volumes ?? []) {
      const folder = this.#folderOf(volume.name);
      makeFolder(folder);
      for (const source of sourcesOf(volume)) {
        const files = await this.#filesOf(source);
        if (files === undefined) return false;
        for (const [name, content] of files) replaceFile(path.join(folder, name), content);
      }
    }
    for (const { name } of this.#container.volumeMounts ?? []) makeFolder(this.#folderOf(name));
    if (spec.automountServiceAccountToken === false) return true;
    const account = spec.serviceAccountName ?? 'default';
    const place = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const answer = await host.create(place, { spec: { expirationSeconds: TOKEN_SECONDS } });
    if (answer.status !== 201) return false;
    const folder = path.join(dir, 'token');
    makeFolder(folder);
    replaceFile(path.join(folder, 'token'), Buffer.from((answer.body.status as { token: string }).token));
    replaceFile(path.join(folder, 'ca.crt'), readFileSync(hostCaFile));
    return true;
  }

  /** False while a Secret of a variable is missing. */
  async #readSecretEnv(): Promise<boolean> {
    const read = new Map<string, string>();
    for (const { name, valueFrom } of this.#container.env ?? []) {
      const reference = valueFrom?.secretKeyRef;
      if (reference === undefined) continue;
      const files = await this.#filesOf({ secret: { secretName: reference.name } });
      const value = files?.get(reference.key);
      if (value === undefined) return false;
      read.set(name, value.toString());
    }
    this.#secretEnv = read;
    return true;
  }

  /** Writes the changed Secrets and ConfigMaps. */
  async refresh(): Promise<void> {
    await this.#writeVolumes();
  }

  async #filesOf({ secret, configMap }: VolumeSource): Promise<ReadonlyMap<string, Buffer> | undefined> {
    const files = secret ?? configMap;
    if (files === undefined) return new Map();
    const name = secret === undefined ? configMap?.name : (secret.secretName ?? secret.name);
    const kind = secret === undefined ? 'configmaps' : 'secrets';
    const { status, body } = await this.#options.host.get(
      `/api/v1/namespaces/${this.#options.namespace}/${kind}/${String(name)}`,
    );
    if (status !== 200) return undefined;
    const data = new Map(
      Object.entries(body.data ?? {}).map(
        ([key, text]) => [key, Buffer.from(text, secret === undefined ? 'utf8' : 'base64')] as const,
      ),
    );
    if (files.items === undefined) return data;
    const chosen = files.items.map((item) => [item.path, data.get(item.key)] as const);
    return chosen.every(([, content]) => content !== undefined)
      ? new Map(chosen.map(([to, content]) => [to, content ?? Buffer.alloc(0)]))
      : undefined;
  }

  /** Probes startup first, then readiness and liveness; a failed liveness probe kills the process. */
  async #probe(program: StartedProcess): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#container;
    const hasStarted = async (): Promise<boolean> => startupProbe === undefined || this.#passes(startupProbe);
    while (!program.hasExited() && !(await hasStarted())) await delay(POLL_MS);
    let failures = 0;
    while (!program.hasExited()) {
      this.#isReady = readinessProbe === undefined || (await this.#passes(readinessProbe));
      if (livenessProbe !== undefined) failures = (await this.#passes(livenessProbe)) ? 0 : failures + 1;
      if (failures > (livenessProbe?.failureThreshold ?? 3) && !this.#isStopping) program.signal('SIGKILL');
      await this.refresh().catch(() => undefined);
      await delay(POLL_MS * 2);
    }
  }

  async #passes({ httpGet, tcpSocket, timeoutSeconds }: Probe): Promise<boolean> {
    const timeoutMs = (timeoutSeconds ?? 1) * MILLISECONDS;
    if (tcpSocket !== undefined) return connects(this.ip, this.portOf(tcpSocket.port) ?? 0, timeoutMs);
    if (httpGet === undefined) throw new Error(`${this.name} has an unsupported probe`);
    const send = httpGet.scheme === 'HTTPS' ? httpsRequest : httpRequest;
    return new Promise((resolve) => {
      const probe = send(
        {
          host: this.ip,
          port: this.portOf(httpGet.port),
          path: httpGet.path,
          agent: false,
          rejectUnauthorized: false,
          timeout: timeoutMs,
        },
        (response) => {
          response.resume();
          resolve((response.statusCode ?? 0) < 400);
        },
      );
      probe.on('timeout', () => probe.destroy());
      probe.on('error', () => {
        resolve(false);
      });
      probe.end();
    });
  }
}

async function connects(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (isConnected: boolean) => () => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, USER, USER);
}

/** Writes a file atomically, readable by the group of the pod only. */
function replaceFile(file: string, content: Buffer): void {
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, content, { mode: 0o440 });
  chownSync(temporary, 0, USER);
  chmodSync(temporary, 0o440);
  renameSync(temporary, file);
}
