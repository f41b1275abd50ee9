import { isValidCIDR } from 'ipaddr.js';
import type { FlagValues } from '../../../shared/flags/flag-row';
import type { CertificateFiles } from '../../engine/server/certificate-files';
import type { AgentRules } from '../../engine/registry/connection';
import type { RedirectRules } from '../../engine/proxy/redirects';
import type { CONNECT_FLAGS } from './connect-flags';
import type { ServerFeatureGates } from './own-gates';

/** Options of proxied connections to other servers. */
export interface ConnectOptions {
  readonly agents: AgentRules;
  /** Timeout for connecting to a kubelet, in milliseconds. */
  readonly agentDialMsMax: number;
  /** The client certificate for kubelets; undefined for anonymous requests. */
  readonly agentClient: CertificateFiles | undefined;
  /** Empty: kubelet certificates are not verified. */
  readonly agentCaFile: string;
  /** The client certificate for extension API servers; undefined for anonymous requests. */
  readonly proxyClient: CertificateFiles | undefined;
  /** Whether requests go to the endpoints of the Service instead of its cluster IP. */
  readonly aggregatorRouting: boolean;
  /** Networks whose addresses this server never connects to, except for its store. */
  readonly egressDenyCidrs: readonly string[];
  /** Rules for redirects of upgrade requests by kubelets. */
  readonly redirects: RedirectRules;
}

type Flags = FlagValues<typeof CONNECT_FLAGS>;

const PORT_MAX = 65_535;

export function connectOptions(
  flags: Flags,
  gates: Pick<ServerFeatureGates, 'StreamingProxyRedirects' | 'ValidateProxyRedirects'>,
): ConnectOptions {
  const { kubeletClientCertificate: certFile, kubeletClientKey: keyFile } = flags;
  return {
    agents: {
      scheme: flags.kubeletHttps ? 'https' : 'http',
      port: flags.kubeletPort,
      addressTypes: flags.kubeletPreferredAddressTypes,
    },
    agentDialMsMax: flags.kubeletTimeoutMs,
    agentClient: certFile === '' ? undefined : { certFile, keyFile },
    agentCaFile: flags.kubeletCertificateAuthority,
    proxyClient:
      flags.proxyClientCertFile === ''
        ? undefined
        : { certFile: flags.proxyClientCertFile, keyFile: flags.proxyClientKeyFile },
    aggregatorRouting: flags.enableAggregatorRouting,
    egressDenyCidrs: flags.egressDenyCidrs,
    redirects: { areFollowed: gates.StreamingProxyRedirects, isHostKept: gates.ValidateProxyRedirects },
  };
}

/** Returns an error for each flag with an unusable value. */
export function connectErrors(flags: Flags): readonly string[] {
  const errors: string[] = [];
  if ((flags.kubeletClientCertificate === '') !== (flags.kubeletClientKey === '')) {
    errors.push('--kubelet-client-certificate and --kubelet-client-key must be given together');
  }
  if ((flags.proxyClientCertFile === '') !== (flags.proxyClientKeyFile === '')) {
    errors.push('--proxy-client-cert-file and --proxy-client-key-file must be given together');
  }
  if (flags.kubeletPort > PORT_MAX) errors.push('--kubelet-port must be at most 65535');
  if (flags.kubeletReadOnlyPort > PORT_MAX) errors.push('--kubelet-read-only-port must be at most 65535');
  if (flags.kubeletTimeoutMs <= 0) errors.push('--kubelet-timeout must be positive');
  if (flags.kubeletPreferredAddressTypes.length === 0) {
    errors.push('--kubelet-preferred-address-types needs at least one type');
  }
  for (const each of flags.egressDenyCidrs)
    if (!isValidCIDR(each))
      errors.push(`--egress-deny-cidrs has no network like 10.0.0.0/8 or fd00::/8: ${each}`);
  return errors;
}
