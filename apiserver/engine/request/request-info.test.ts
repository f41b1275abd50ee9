import { parseRequestInfo } from './request-info';

const NONE = new URLSearchParams();

describe('paths of resources', () => {
  test.each([
    ['GET', '/api/v1/namespaces', 'list', '', 'namespaces', '', ''],
    ['GET', '/api/v1/namespaces/x', 'get', 'x', 'namespaces', 'x', ''],
    ['PUT', '/api/v1/namespaces/x/status', 'update', 'x', 'namespaces', 'x', 'status'],
    ['PUT', '/api/v1/namespaces/x/finalize', 'update', 'x', 'namespaces', 'x', 'finalize'],
    ['GET', '/api/v1/namespaces/x/pods', 'list', 'x', 'pods', '', ''],
    ['DELETE', '/api/v1/namespaces/x/pods', 'deletecollection', 'x', 'pods', '', ''],
    ['POST', '/api/v1/namespaces/x/pods/p/binding', 'create', 'x', 'pods', 'p', 'binding'],
    ['HEAD', '/api/v1/pods', 'list', '', 'pods', '', ''],
    ['GET', '/apis/apps/v1/deployments', 'list', '', 'deployments', '', ''],
    ['PATCH', '/apis/apps/v1/namespaces/x/deployments/d/scale', 'patch', 'x', 'deployments', 'd', 'scale'],
    ['GET', '/api/v1/watch/namespaces/x/pods', 'watch', 'x', 'pods', '', ''],
    ['GET', '/api/v1/watch/pods', 'watch', '', 'pods', '', ''],
    ['GET', '//api/v1/pods/', 'list', '', 'pods', '', ''],
    ['GET', '/api/v1/watch/namespaces/x/pods/p', 'watch', 'x', 'pods', 'p', ''],
  ])('%s %s is %s of the right object', (method, path, ...expected) => {
    const info = parseRequestInfo(method, path, NONE);
    expect(info.isResourceRequest).toBe(true);
    expect([info.verb, info.namespace, info.resource, info.name, info.subresource]).toEqual(expected);
  });

  test('a double slash in the middle names no resource', () => {
    expect(parseRequestInfo('GET', '/api/v1//pods', NONE).resource).toBe('');
  });

  test('a long run of slashes is read in time that grows with its length, not with the square of it', () => {
    // In the square of it, this would take minutes.
    expect(parseRequestInfo('GET', `/a${'/'.repeat(1_000_000)}b`, NONE).isResourceRequest).toBe(false);
  });

  test('the path of one object is a get, whatever `watch` says', () => {
    const info = parseRequestInfo('GET', '/api/v1/namespaces/x/pods/p', new URLSearchParams('watch=1'));
    expect(info.verb).toBe('get');
  });

  test('a path is decoded before it is split, so that an encoded slash separates as any other', () => {
    const info = parseRequestInfo('GET', '/apis/rbac.x/v1/clusterroles/system%3Aa%2Fb', NONE);
    expect([info.apiGroup, info.name, info.subresource]).toEqual(['rbac.x', 'system:a', 'b']);
  });

  test('the name that a selector of more than 100 terms selects is not read: the request is for the whole list', () => {
    const nameOf = (terms: number): string => {
      const fieldSelector = `metadata.name=p${',a=b'.repeat(terms - 1)}`;
      return parseRequestInfo('GET', '/api/v1/pods', new URLSearchParams({ fieldSelector })).name;
    };
    expect([nameOf(100), nameOf(101)]).toEqual(['p', '']);
  });

  test.each(['watch=1', 'watch=true', 'watch=', 'watch'])('a list with %s is a watch', (query) => {
    expect(parseRequestInfo('GET', '/api/v1/pods', new URLSearchParams(query)).verb).toBe('watch');
  });

  test.each([
    ['GET', '/api/v1/namespaces/x/pods', 'metadata.name=p', 'p'],
    ['GET', '/api/v1/namespaces/x/pods', 'metadata.name=p&watch=1', 'p'],
    ['GET', '/api/v1/pods', 'status.phase!=Failed,metadata.name==p', 'p'],
    ['GET', '/api/v1/nodes', 'metadata.name=n', 'n'],
    ['GET', '/api/v1/pods', 'metadata.name!=p', ''],
    ['GET', '/api/v1/pods', 'spec.nodeName=n', ''],
    ['GET', '/api/v1/pods', 'metadata.name=', ''],
    ['GET', '/api/v1/pods', 'metadata.name=..', ''],
    ['GET', '/api/v1/pods', 'metadata.name=a/b', ''],
    ['GET', '/api/v1/pods', 'metadata.name=a%2525', ''],
    ['GET', '/api/v1/pods', 'metadata.name', ''],
    ['GET', '/api/v1/namespaces/x/pods/q', 'metadata.name=p', 'q'],
    ['GET', '/api/v1/watch/pods', 'metadata.name=p', ''],
    ['DELETE', '/api/v1/namespaces/x/pods', 'metadata.name=p', ''],
  ])('%s %s by the field selector %s is authorized for the name "%s"', (method, path, selector, name) => {
    const query = new URLSearchParams(`fieldSelector=${selector}`);
    expect(parseRequestInfo(method, path, query).name).toBe(name);
  });

  test.each(['watch=0', 'watch=false', 'watch=FALSE', ''])('a list with "%s" stays a list', (query) => {
    expect(parseRequestInfo('GET', '/api/v1/pods', new URLSearchParams(query)).verb).toBe('list');
  });
});

describe('other paths', () => {
  test.each(['/', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/version', '/healthz/ping'])(
    '%s is no resource and its verb is the method',
    (path) => {
      const info = parseRequestInfo('GET', path, NONE);
      expect(info.isResourceRequest).toBe(false);
      expect(info.verb).toBe('get');
    },
  );

  test('broken percent-encoding is an URIError', () => {
    expect(() => parseRequestInfo('GET', '/api/v1/pods/%zz', NONE)).toThrow(URIError);
  });
});
