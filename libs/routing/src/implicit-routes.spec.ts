import { RoutingMesh } from '../../../test/support/routing-mesh';
import type { RouteSpec } from './model';

const to = (backend: string, parent: Partial<NonNullable<RouteSpec['parentRefs']>[number]> = {}): RouteSpec => ({
  parentRefs: [{ kind: 'Service', name: 'echo', ...parent }],
  rules: [{ backendRefs: [{ name: backend, port: 80 }] }],
});
const implicit = { implicit: true };

describe('routes that are generated from what a service comes from', () => {
  it('decide where no other route is bound, whatever its kind and age, and say who took their port', () => {
    const mesh = RoutingMesh.echo();
    const own = mesh.route('HTTPRoute', 'own', to('echo-v1', { port: 80 }), implicit);
    expect(mesh.answer()).toBe('echo-v1');
    const tcp = mesh.route('TCPRoute', 'tcp', to('echo-v2', { port: 80 }));
    expect(mesh.answer()).toBe('echo-v2');
    expect(mesh.conditions(own)[0]).toContain('Accepted=False/RoutedByXRoute');
    expect(mesh.messages(own)).toContain('port 80 is taken by a TCPRoute');
    expect(mesh.conditions(tcp)[0]).toContain('Accepted=True/Accepted');
    mesh.table.removeRoute(tcp);
    expect(mesh.answer()).toBe('echo-v1');
    expect(mesh.conditions(own)[0]).toContain('Accepted=True/Accepted');
  });

  it('are replaced port by port, and by routes that are accepted only', () => {
    const mesh = RoutingMesh.echo();
    const first = mesh.route('HTTPRoute', 'first', to('echo-v1', { port: 80 }), implicit);
    mesh.route('HTTPRoute', 'second', to('echo-v1', { port: 8080 }), implicit);
    mesh.route('HTTPRoute', 'other', to('echo-v2', { port: 8080 }));
    mesh.route('HTTPRoute', 'nowhere', to('echo-v2', { port: 99 }));
    expect([mesh.answer({ port: 80 }), mesh.answer({ port: 8080 })]).toEqual(['echo-v1', 'echo-v2']);
    expect(mesh.conditions(first)[0]).toContain('Accepted=True/Accepted');
  });

  it('hold for callers of other namespaces, unless those have a route of their own', () => {
    const mesh = RoutingMesh.echo();
    const own = mesh.route('HTTPRoute', 'own', to('echo-v1'), implicit);
    const rules = [{ backendRefs: [{ name: 'echo-v2', namespace: 'mesh', port: 80 }] }];
    mesh.route('HTTPRoute', 'theirs', { ...to('', { namespace: 'mesh' }), rules }, { namespace: 'consumer' });
    expect([mesh.answer(), mesh.answer({ from: 'consumer' })]).toEqual(['echo-v1', 'echo-v2']);
    expect(mesh.conditions(own)[0]).toContain('Accepted=True/Accepted');
  });

  it('T002-19 an xRoute binds to a VirtualService by the service that answers for it', () => {
    const mesh = RoutingMesh.echo();
    mesh.service('vs-shop');
    const group = 'appmesh.k8s.aws/v1beta2';
    const route = mesh.route('HTTPRoute', 'r', to('echo-v1', { group, kind: 'VirtualService', name: 'shop' }));
    expect(mesh.answer({ to: 'vs-shop' })).toBe('echo-v1');
    expect(mesh.conditions(route)[0]).toContain('Accepted=True/Accepted');
    const rules = [{ backendRefs: [{ group, kind: 'VirtualService', name: 'shop' }] }];
    expect(mesh.messages(mesh.route('HTTPRoute', 's', { ...to('echo'), rules }))).toContain(
      'no kind that routes send to',
    );
  });
});
