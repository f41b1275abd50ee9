import type { CertificateRequest } from './certificate-request';
import { NODE_USER, SIGNER, USER_GROUP } from '../names';
import { ownKeyMap } from '../own-key-map';

/** Says why a signer does not sign a request with these usages; undefined where it does. */
export type SignerRule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

/** What each signer that comes with the project asks for. The texts are shown in conditions. */
export const SIGNER_RULES = ownKeyMap<SignerRule>({
  [SIGNER.apiServerClient]: (_request, usages) => clientUsageProblem(usages),
  [SIGNER.apiServerClientNodeAgent]: nodeClientProblem,
  [SIGNER.nodeAgentServing]: nodeServingProblem,
  [SIGNER.legacyUnknown]: superuserProblem,
});

/** The signer of old takes anything else; v1.21 makes superusers with it, too. */
function superuserProblem({ organizations }: CertificateRequest): string | undefined {
  return organizations.includes(USER_GROUP.masters)
    ? `use of ${SIGNER.legacyUnknown} signer with ${USER_GROUP.masters} group is not allowed`
    : undefined;
}

const CLIENT_AUTH = 'client auth';
const OPTIONAL_CLIENT_USAGES: readonly string[] = ['digital signature', 'key encipherment'];
/** Sorted, as the texts show them. */
const NODE_CLIENT_USAGES: readonly string[] = [CLIENT_AUTH, 'digital signature', 'key encipherment'];
const NODE_SERVING_USAGES: readonly string[] = ['digital signature', 'key encipherment', 'server auth'];

/** Why this is no request of a node for a certificate with which it is a client of the API server; undefined for one that is. */
export function nodeClientProblem(
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  const { dns, email, ip, uri } = request.alternativeNames;
  if (!isOrganizationOfNodes(request)) return NOT_OF_NODES;
  if (dns.length > 0) return 'DNS subjectAltNames are not allowed';
  if (email.length > 0) return 'Email subjectAltNames are not allowed';
  if (ip.length > 0) return 'IP subjectAltNames are not allowed';
  if (uri.length > 0) return 'URI subjectAltNames are not allowed';
  return nameProblem(request) ?? usagesProblem(usages, NODE_CLIENT_USAGES);
}

function nodeServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dns, email, ip, uri } = request.alternativeNames;
  if (!isOrganizationOfNodes(request)) return NOT_OF_NODES;
  if (dns.length === 0 && ip.length === 0) return 'DNS or IP subjectAltName is required';
  if (email.length > 0) return 'Email subjectAltNames are not allowed';
  if (uri.length > 0) return 'URI subjectAltNames are not allowed';
  return usagesProblem(usages, NODE_SERVING_USAGES) ?? nameProblem(request);
}

function clientUsageProblem(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => usage !== CLIENT_AUTH && !OPTIONAL_CLIENT_USAGES.includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  return usages.includes(CLIENT_AUTH)
    ? undefined
    : `missing required usage for client certificate: ${CLIENT_AUTH}`;
}

const NOT_OF_NODES = `subject organization is not ${NODE_USER.group}`;

function isOrganizationOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === NODE_USER.group;
}

function nameProblem({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith(NODE_USER.prefix)
    ? undefined
    : `subject common name does not begin with ${NODE_USER.prefix}`;
}

/** They count as a set. */
function usagesProblem(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const given = new Set(usages);
  return given.size === wanted.length && wanted.every((usage) => given.has(usage))
    ? undefined
    : `usages did not match [${wanted.join(' ')}]`;
}
