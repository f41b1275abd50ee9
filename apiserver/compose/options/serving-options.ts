import { isIP } from 'node:net';
import { isValidCIDR } from 'ipaddr.js';
import { reachableAddress, servingHosts } from '../../../shared/certs/serving-hosts';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import { parseBrowserRules } from './browser-options';
import { parseCipherSuites } from './cipher-suites';
import type { Http2Settings } from '../../engine/server/http2-sessions';
import type { ServerFlags } from './complete-options';
import type { ServingOptions } from './server-options';
import { parseSniCertificates } from './sni-certificates';

export type CompletedServing =
  | { readonly ok: true; readonly options: ServingOptions }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Builds the listen address and certificates from the flags. */
export function completeServing(flags: ServerFlags): CompletedServing {
  const ciphers = parseCipherSuites(flags.tlsCipherSuites);
  const browsers = parseBrowserRules(flags);
  const sni = parseSniCertificates(flags.tlsSniCertKey);
  const errors = [
    ...(ciphers.ok ? [] : ciphers.errors),
    ...(sni.ok ? [] : sni.errors),
    ...(browsers.ok ? [] : browsers.errors),
    ...servingErrors(flags),
  ];
  if (errors.length > 0 || !ciphers.ok || !sni.ok || !browsers.ok) return { ok: false, errors };
  const hosts = servingHosts([flags.bindAddress, advertiseAddressOf(flags), flags.externalHostname]);
  return {
    ok: true,
    options: {
      bindAddress: flags.bindAddress,
      port: flags.securePort,
      certificate:
        flags.tlsCertFile === ''
          ? { from: 'self-signed', dir: flags.certDir, hosts }
          : { from: 'files', certFile: flags.tlsCertFile, keyFile: flags.tlsPrivateKeyFile },
      sniCertificates: sni.certificates,
      minTlsVersion: flags.tlsMinVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
      ciphers: ciphers.ciphers,
      http2: http2Settings(flags),
      browsers: browsers.rules,
      handshakes: handshakeRate(flags),
      proxyProtocolNetworks: flags.proxyProtocolNetworks,
    },
  };
}

/** Returns the address of this server for other machines. */
export function advertiseAddressOf({ advertiseAddress, bindAddress }: ServerFlags): string {
  return advertiseAddress || reachableAddress(bindAddress);
}

function servingErrors(flags: ServerFlags): string[] {
  const errors: string[] = [];
  if ((flags.tlsCertFile === '') !== (flags.tlsPrivateKeyFile === '')) {
    errors.push('--tls-cert-file and --tls-private-key-file must be given together');
  }
  if (flags.tlsCertFile === '' && flags.certDir === '')
    errors.push('--cert-dir must not be empty without --tls-cert-file');
  if (isIP(flags.bindAddress) === 0)
    errors.push(`--bind-address must be an IP address, not "${flags.bindAddress}"`);
  if (flags.advertiseAddress !== '' && isIP(flags.advertiseAddress) === 0) {
    errors.push(`--advertise-address must be an IP address, not "${flags.advertiseAddress}"`);
  }
  if (!isGoawayChance(flags.goawayChance)) {
    errors.push(`--goaway-chance must be a number from 0 to 0.02, not "${flags.goawayChance}"`);
  }
  for (const each of flags.proxyProtocolNetworks)
    if (!isValidCIDR(each))
      errors.push(`--proxy-protocol-networks has no network like 10.0.0.0/8 or fd00::/8: ${each}`);
  return errors;
}

const GOAWAY_CHANCE_MAX = 0.02;
const STREAMS_DEFAULT = 250;

function isGoawayChance(text: string): boolean {
  const chance = Number(text);
  return text.trim() !== '' && chance >= 0 && chance <= GOAWAY_CHANCE_MAX;
}

function http2Settings({
  enableHttp2,
  http2MaxStreamsPerConnection: streams,
  goawayChance,
}: ServerFlags): Http2Settings | undefined {
  if (!enableHttp2) return undefined;
  return { streamsMax: streams === 0 ? STREAMS_DEFAULT : streams, goawayChance: Number(goawayChance) };
}

function handshakeRate({ tlsHandshakeRate, tlsHandshakeBurst }: ServerFlags): Rate | undefined {
  return tlsHandshakeRate === 0 ? undefined : { perSecond: tlsHandshakeRate, burst: tlsHandshakeBurst };
}
