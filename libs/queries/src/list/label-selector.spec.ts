import type { Resource } from '@causeway/resources';
import { matchesLabels, parseLabelSelector } from './label-selector';

const resource = {
  id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'shop', name: 'redis' },
  labels: { team: 'db', tier: '', 'example.com/x': '1' },
} as unknown as Resource;

describe('label selectors', () => {
  it.each([
    ['team=db', true],
    ['team==db', true],
    ['team = db', true],
    ['team!=db', false],
    ['other!=db', true],
    ['team in (web, db)', true],
    ['team in (web)', false],
    ['team notin (web)', true],
    ['other notin (web)', true],
    ['team notin (db, web)', false],
    ['team', true],
    ['other', false],
    ['!other', true],
    ['! team', false],
    ['tier=', true],
    ['example.com/x=1', true],
    ['team=db,!other,example.com/x in (1)', true],
    ['team=db,other', false],
    ['k8s.kuma.io/namespace=shop', true],
    ['k8s.kuma.io/service-name=redis', true],
    ['constructor', false],
  ])('%s → %s', (text, wanted) => {
    const reading = parseLabelSelector(text);
    expect(reading.ok && matchesLabels(resource, reading.requirements)).toBe(wanted);
    expect(reading.ok).toBe(true);
  });

  it.each([
    ',',
    'a=b,',
    'a=b=c',
    'a in b',
    'a in (b',
    'a in (b))',
    '(a)',
    '=b',
    '!',
    'a b',
    'in (a)',
    'a=-',
    'a in (x y)',
    '/a=b',
    '__proto__=b',
  ])('%s is none', (text) => {
    expect(parseLabelSelector(text)).toEqual({ ok: false, reason: expect.any(String) });
  });
});
