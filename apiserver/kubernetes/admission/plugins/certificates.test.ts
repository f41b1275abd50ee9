import { GROUP, SIGNER } from '../../../../shared/names';
import type { AccessQuestion, Authorizer } from '../../../engine/request/access';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates';
import { attributesOf, outcomeOf, resultOf } from '../testing/plugin-bench';

const REQUESTS = 'certificates.orch/v1/certificatesigningrequests';
const SIGNER_NAME = 'example.com/some-signer';

/** Subject O=system:masters, O=devs, CN=jane. */
const SUPERUSER = `-----BEGIN CERTIFICATE REQUEST-----
MIHyMIGZAgEAMDcxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ0wCwYDVQQKDARk
ZXZzMQ0wCwYDVQQDDARqYW5lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEsMd
jaITeafM9SMaKmjZkgufFei6MJ+06m9dFxX39u0XanGI55og2rVYvfyogt7LOYiv
HezdJma1ZII5qorW/KAAMAoGCCqGSM49BAMCA0gAMEUCIERBtHatdvI87MvvHXo5
ej3JD/7Be+C9zfLlp+SIvYErAiEA+et8pNbkEXDbfKGk7qscGmaguFCUUyWXopm0
l/f0Tn0=
-----END CERTIFICATE REQUEST-----
`;

/** Subject O=devs, CN=jane. */
const DEVELOPER = `-----BEGIN CERTIFICATE REQUEST-----
MIHZMIGAAgEAMB4xDTALBgNVBAoMBGRldnMxDTALBgNVBAMMBGphbmUwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQSwx2NohN5p8z1IxoqaNmSC58V6Lown7Tqb10X
Fff27RdqcYjnmiDatVi9/KiC3ss5iK8d7N0mZrVkgjmqitb8oAAwCgYIKoZIzj0E
AwIDSAAwRQIgeuQy9Mh9dsIM/0NIlb79hWXHf+gFe1MGSK/RVNQwppwCIQDo4bz+
hXjWYA4gRT4qcrbwF7vmv1Sq1w/pjZfLPxg53w==
-----END CERTIFICATE REQUEST-----
`;

function authorizer(allowed: readonly string[]): { authorize: Authorizer; questions: AccessQuestion[] } {
  const questions: AccessQuestion[] = [];
  return {
    questions,
    authorize: async (question) => {
      questions.push(question);
      const isAllowed = allowed.includes(`${question.verb} ${question.name}`);
      return Promise.resolve({ decision: isAllowed ? 'allow' : 'no-opinion', reason: '' });
    },
  };
}

const requestWith = (status: object, signerName = SIGNER_NAME) => ({
  metadata: { name: 'r' },
  spec: { signerName },
  status,
});

const update = (subresource: string, status: object, before: object = {}) =>
  attributesOf(REQUESTS, {
    operation: 'UPDATE',
    subresource,
    object: requestWith(status),
    oldObject: requestWith(before),
  });

describe.each([
  { create: certificateApproval, subresource: 'approval', verb: 'approve' },
  { create: certificateSigning, subresource: 'status', verb: 'sign' },
])('$subresource', ({ create, subresource, verb }) => {
  test.each([
    [[`${verb} ${SIGNER_NAME}`], true],
    [[`${verb} example.com/*`], true],
    [[`${verb} example.com/other`], false],
    [[`other ${SIGNER_NAME}`], false],
  ])('with permission for %j', async (allowed, isAdmitted) => {
    const { authorize, questions } = authorizer(allowed);
    const outcome = await outcomeOf(
      create(authorize),
      update(subresource, { conditions: [{ type: 'Approved' }] }),
    );
    expect(resultOf(outcome)).toMatch(
      isAdmitted ? /^admitted$/ : /^403 .* is forbidden: user not permitted to \w+ requests with signerName/,
    );
    expect(questions[0]).toMatchObject({
      user: { name: 'jane' },
      isResourceRequest: true,
      apiGroup: GROUP.certificates,
      resource: 'signers',
    });
  });
});

test('a status update that changes neither certificate nor conditions needs no permission', async () => {
  const { authorize, questions } = authorizer([]);
  const status = { conditions: [{ type: 'Approved', status: 'True' }] };
  const outcome = await outcomeOf(certificateSigning(authorize), update('status', status, status));
  expect(outcome).toMatchObject({ status });
  expect(questions).toEqual([]);
});

describe('a client certificate', () => {
  const created = async (pem: string, signerName: string) => {
    const request = Buffer.from(pem).toString('base64');
    const object = { metadata: { name: 'r' }, spec: { signerName, request } };
    return outcomeOf(certificateSubjectRestriction, attributesOf(REQUESTS, { object }));
  };

  test('cannot be requested for system:masters', async () => {
    expect(await created(SUPERUSER, SIGNER.apiServerClient)).toContain(
      `use of ${SIGNER.apiServerClient} signer with system:masters group is not allowed`,
    );
  });

  test.each([
    ['for somebody else', DEVELOPER, SIGNER.apiServerClient],
    ['of another signer', SUPERUSER, 'example.com/x'],
    ['in what is no request', 'nonsense', SIGNER.apiServerClient],
  ])('can be requested %s', async (_what, pem, signerName) => {
    expect(await created(pem, signerName)).toMatchObject({ metadata: { name: 'r' } });
  });
});
