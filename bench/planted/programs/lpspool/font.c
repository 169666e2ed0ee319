/*
 * The one font, drawn by arithmetic.  Each glyph counts its uses, so that
 * the operator can see which ones to keep in the printer.
 */
#include "lpspool.h"

struct glyph		font[NGLYPH];
static int		fontloads;	/* at start only */
static unsigned		missing;	/* glyphs we do not have; seldom */

void
font_init(void)
{
	int c, r;

	for (c = 0; c < NGLYPH; c++) {
		for (r = 0; r < GLYPHROWS; r++)
			font[c].g_row[r] = c == 0 ? 0 :
			    (uint8_t)((c * 37) ^ (r * 91) ^ (c >> 2));
		fontloads++;
	}
}

unsigned
font_row(int ch, int row)
{
	ch -= FIRSTCH;
	if (ch < 0 || ch >= NGLYPH) {
		missing++;
		return 0;
	}
	return font[ch].g_row[row];
}

void
font_hit(int ch)
{
	ch -= FIRSTCH;
	if (ch >= 0 && ch < NGLYPH)
		__atomic_fetch_add(&font[ch].g_used, 1, __ATOMIC_RELAXED);
}
