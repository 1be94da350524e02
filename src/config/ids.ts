/**
 * Ids and tokens that are easily taken for one another.
 *
 * Refuses what is plainly something else; a shape that nobody knows passes,
 * because ids of other shapes have existed and will again.
 */
import { z } from 'zod';

const SHAPES = {
  outpost: { shape: /^(outpost_env-|pool_)/, words: 'the id of an outpost' },
  team: { shape: /^team_/, words: 'the id of a Vercel team' },
  project: { shape: /^prj_/, words: 'the id of a Vercel project' },
  deployment: { shape: /^dpl_/, words: 'the id of a Vercel deployment' },
  sandbox: { shape: /^sbx_/, words: 'the id of a sandbox' },
  session: { shape: /^devin-[0-9a-f]{32}$/, words: 'the id of a Devin session' },
  devinToken: { shape: /^cog_/, words: "Devin's token" },
  vercelToken: { shape: /^vc[a-z]_/, words: "Vercel's token" },
} as const;
export type Shape = keyof typeof SHAPES;

/** Passes the issue on when the text is plainly another thing than `own`. The text itself is never repeated. */
export function notMistakenFor(own: Shape, should: string) {
  return z.string().superRefine((text, context) => {
    const shapes = Object.keys(SHAPES) as Shape[];
    const seen = shapes.find((shape) => SHAPES[shape].shape.test(text));
    if (seen === undefined || seen === own) return;
    context.addIssue({ code: 'custom', message: `${should}; this looks like ${SHAPES[seen].words}` });
  });
}
