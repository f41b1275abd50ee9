import { KUBERNETES_PROTOBUF, MEDIA_TYPE } from '../../../shared/names';
import { DOCUMENT_OFFER, negotiate, negotiateBody } from './negotiation';

const SUPPORTED = [MEDIA_TYPE.json, MEDIA_TYPE.protobuf];

function asked(accept: string) {
  return negotiate({ headers: { accept }, query: new URLSearchParams() }, DOCUMENT_OFFER);
}

test('who asks for Protobuf by the name of Kubernetes gets it by that name', () => {
  expect(asked(`${KUBERNETES_PROTOBUF},application/json`)).toMatchObject({
    format: 'protobuf',
    protobufType: KUBERNETES_PROTOBUF,
  });
  expect(asked(MEDIA_TYPE.protobuf)).toEqual({ format: 'protobuf', shape: undefined, pretty: false });
  expect(asked('application/json')).not.toHaveProperty('protobufType');
});

test('a body is Protobuf by either name, where Protobuf is read at all', () => {
  expect(negotiateBody(KUBERNETES_PROTOBUF, SUPPORTED)).toBe(MEDIA_TYPE.protobuf);
  expect(negotiateBody(MEDIA_TYPE.protobuf, SUPPORTED)).toBe(MEDIA_TYPE.protobuf);
  expect(() => negotiateBody(KUBERNETES_PROTOBUF, [MEDIA_TYPE.json])).toThrow('in an unknown format');
});
