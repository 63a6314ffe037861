import type { ResumePoint } from './peer-state';
import { evaluateClaimedPoints, ResumePointSigner } from './resume-points';

const HEAD = { incarnation: 'life', revision: 100 };
const east = new ResumePointSigner('key', 'east');

function signed(kind: string, revision: number, signer = east, incarnation = 'life'): [string, ResumePoint] {
  const point = { incarnation, revision, view: 'v' };
  return [kind, { ...point, mac: signer.mac(kind, point) }];
}

describe('resume points that a peer shows', () => {
  it('prove that the store was set back only beyond the head, of this incarnation and with our MAC for this peer and kind', () => {
    const [, point] = signed('Mesh', 101);
    const isSetBack = (claimed: readonly [string, ResumePoint]): boolean =>
      evaluateClaimedPoints([claimed], HEAD, east).isSetBack;
    expect(isSetBack(['Mesh', point])).toBe(true);
    const lies: readonly (readonly [string, ResumePoint])[] = [
      signed('Mesh', 100),
      signed('Mesh', 101, east, 'another life'),
      signed('Mesh', 101, new ResumePointSigner('key', 'west')),
      signed('Mesh', 101, new ResumePointSigner('another key', 'east')),
      ['MeshService', point],
      ['Mesh', { ...point, revision: 102 }],
      ['Mesh', { ...point, view: 'w' }],
      ['Mesh', { ...point, mac: '' }],
      ['Mesh', { ...point, mac: 'é'.repeat(43) }],
      ['Mesh', { incarnation: 'life', revision: Number.MAX_SAFE_INTEGER, view: 'v' }],
    ];
    expect(lies.map(isSetBack)).toEqual(lies.map(() => false));
  });

  it('are left out where they are doubtful, and resumed from otherwise', () => {
    const old = { incarnation: 'life', revision: 9, view: 'v' };
    const lie = { incarnation: 'life', revision: 200, view: 'v', mac: 'x' };
    const { points, isSetBack, doubtful } = evaluateClaimedPoints(
      [
        ['Mesh', old],
        ['Zone', lie],
      ],
      HEAD,
      east,
    );
    expect([[...points.keys()], isSetBack, doubtful]).toEqual([['Mesh'], false, { kind: 'Zone', revision: 200 }]);
  });
});
