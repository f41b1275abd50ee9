import { SIGNER } from '../names';
import { getDefaults } from './defaults';

/**
 * Certificate requests: a node's client and serving certificates, one with an e-mail address, and another
 * user's.
 */
const REQUESTS = {
  client:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVNpb2d6a2Ryd3NYRXk1CkdyNTFOeEU2Q1djampyaXlkUW5HYXRSbkhUakRCUWxXK3BqVS9MV3F3ZUpVSmN6NnF6OFhHVTNMaEFZYmw0a3oKb3FlODdFSHVvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnT1BZSFpNN2tVTUtsTGZEWEhvUkZsb2x2UEowQgoxSVBwMDQvS3VlOTk0b1FDSVFDNU9taHRLbnY3aDE4bWFydnZKeTZkbjZnVUF6UEpkTkF3SXBRYnVuM0podz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=',
  serving:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkVEQ0J1QUlCQURBd01SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14RnpBVkJnTlZCQU1NRG5ONQpjM1JsYlRwdWIyUmxPbTR4TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFb3FJTTVIYThMRnhNCnVScStkVGNST2dsbkk0NjRzblVKeG1yVVp4MDR3d1VKVnZxWTFQeTFxc0hpVkNYTStxcy9GeGxOeTRRR0c1ZUoKTTZLbnZPeEI3cUFtTUNRR0NTcUdTSWIzRFFFSkRqRVhNQlV3RXdZRFZSMFJCQXd3Q29JQ2JqR0hCQW9BQUFFdwpDZ1lJS29aSXpqMEVBd0lEUndBd1JBSWdSNTFURzNrVkJmQi9nemRVZExMZlgrYlc1ZTI0VW40aTlOOWtXTERmCk8xSUNJREtPWHhzTDZTUldvUTVGSXFqZm9ZMFVzTG9QM3NFUmluNmtHK0plVU5DaQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
  withEmail:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkVUQ0J1UUlCQURBd01SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14RnpBVkJnTlZCQU1NRG5ONQpjM1JsYlRwdWIyUmxPbTR4TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFb3FJTTVIYThMRnhNCnVScStkVGNST2dsbkk0NjRzblVKeG1yVVp4MDR3d1VKVnZxWTFQeTFxc0hpVkNYTStxcy9GeGxOeTRRR0c1ZUoKTTZLbnZPeEI3cUFuTUNVR0NTcUdTSWIzRFFFSkRqRVlNQll3RkFZRFZSMFJCQTB3QzRJQ2JqR0JCV0ZBWWk1agpNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJSEszRVNpSms0WEdJR0xHVWxhYmVpSXJmSWNHVzVVUEZ5aHNQUWdtCmRKRGpBaUIvRXZaNFpHdG1ROWxBS2dhMlh5a29QMzFZYndwL3h1c3JXWUFnT1pvdXl3PT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==',
  other:
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIVU1Ic0NBUUF3R1RFWE1CVUdBMVVFQXd3T2MzbHpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQgpCZ2dxaGtqT1BRTUJCd05DQUFTaW9nemtkcndzWEV5NUdyNTFOeEU2Q1djampyaXlkUW5HYXRSbkhUakRCUWxXCitwalUvTFdxd2VKVUpjejZxejhYR1UzTGhBWWJsNGt6b3FlODdFSHVvQUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXcKUmdJaEFMSlY3VTUybmE3QysyeENValVlTWwrMmh5SHA2dFpoODRFTTVrVXoyZlZ5QWlFQXpFeFZPSHJYQURMNwpUQVN0NWQ3eERoWDR6ckZ1SUFHTDVwMjhRbHBQak5vPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
} as const;

const BOTH = ['digital signature', 'key encipherment'];

function signerOf(request: string, usages: readonly string[], signerName?: string): unknown {
  const spec = { request, usages, signerName };
  const filled = getDefaults('certificates/v1beta1.CertificateSigningRequest')({ metadata: {}, spec });
  return (filled?.['spec'] as { signerName?: unknown } | undefined)?.signerName;
}

test.each([
  ['client' as const, 'client auth', SIGNER.apiServerClientNodeAgent],
  ['client' as const, 'server auth', SIGNER.legacyUnknown],
  ['serving' as const, 'server auth', SIGNER.nodeAgentServing],
  ['serving' as const, 'client auth', SIGNER.legacyUnknown],
  ['withEmail' as const, 'server auth', SIGNER.legacyUnknown],
  ['other' as const, 'client auth', SIGNER.legacyUnknown],
])('a %s request for %s goes to %s', (name, usage, signer) => {
  expect(signerOf(REQUESTS[name], [...BOTH, usage])).toBe(signer);
});

test('usages are compared as a set', () => {
  expect(signerOf(REQUESTS.client, ['client auth', ...BOTH, 'client auth'])).toBe(
    SIGNER.apiServerClientNodeAgent,
  );
  expect(signerOf(REQUESTS.client, [...BOTH, 'client auth', 'any'])).toBe(SIGNER.legacyUnknown);
});

test('an invalid request has no known signer, and a given signer stays', () => {
  expect(signerOf('', BOTH)).toBe(SIGNER.legacyUnknown);
  const cut = Buffer.from(Buffer.from(REQUESTS.client, 'base64').toString().slice(0, 120)).toString('base64');
  expect(signerOf(cut, [...BOTH, 'client auth'])).toBe(SIGNER.legacyUnknown);
  expect(signerOf(REQUESTS.client, [...BOTH, 'client auth'], 'example.com/own')).toBe('example.com/own');
});
