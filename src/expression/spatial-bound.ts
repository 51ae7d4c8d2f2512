// Areas that spatial filters look into.

/**
 * An area that spatial filters look into. Its bounds belong to it. Coordinates of `radius` in meters are latitude and
 * longitude in degrees, on a sphere of 6,371 km; all other areas are of the plane, or of a space of any dimensions.
 */
export type SpatialBound =
  | { readonly type: 'rectangular'; readonly lower: readonly number[]; readonly upper: readonly number[] }
  | { readonly type: 'radius'; readonly center: readonly number[]; readonly radius: number; readonly meters: boolean }
  /** Corners, at least three, in either direction. */
  | { readonly type: 'polygon'; readonly x: readonly number[]; readonly y: readonly number[] };

/** Coordinates as they are stored: numbers with commas between them. Undefined for any other text. */
export function parseCoordinates(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  return parts.some((part) => !Number.isFinite(part)) ? undefined : parts;
}

/** False for a point with fewer coordinates than the area has; further ones are not looked at. */
export function contains(bound: SpatialBound, point: readonly number[]): boolean {
  switch (bound.type) {
    case 'rectangular':
      return bound.lower.every((lower, axis) => {
        const value = point[axis] ?? Number.NaN;
        return value >= lower && value <= (bound.upper[axis] ?? lower);
      });
    case 'radius': {
      if (bound.meters) return metersBetween(bound.center, point) <= bound.radius;
      const squares = bound.center.reduce((sum, center, axis) => sum + ((point[axis] ?? Number.NaN) - center) ** 2, 0);
      return squares <= bound.radius ** 2;
    }
    case 'polygon': {
      const [x = Number.NaN, y = Number.NaN] = point;
      return isInPolygon(bound, x, y);
    }
  }
}

const EARTH_METERS = 6_371_000;

/** The haversine formula. */
function metersBetween([fromLatitude = 0, fromLongitude = 0]: readonly number[], [latitude, longitude]: readonly number[]): number {
  const radians = (degrees: number | undefined): number => ((degrees ?? Number.NaN) * Math.PI) / 180;
  const [from, to] = [radians(fromLatitude), radians(latitude)];
  const across = Math.sin((radians(longitude) - radians(fromLongitude)) / 2);
  const along = Math.sin((to - from) / 2);
  const share = along * along + Math.cos(from) * Math.cos(to) * across * across;
  return 2 * EARTH_METERS * Math.atan2(Math.sqrt(share), Math.sqrt(1 - share));
}

/** A ray to the left crosses the border an odd number of times. */
function isInPolygon(bound: Extract<SpatialBound, { type: 'polygon' }>, x: number, y: number): boolean {
  const corners = bound.x.length;
  let isInside = false;
  for (let at = 0; at < corners; at++) {
    const before = (at + corners - 1) % corners;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [bound.x[before], bound.y[before], bound.x[at], bound.y[at]];
    const side = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
    const isBeside = x >= Math.min(x1, x2) && x <= Math.max(x1, x2) && y >= Math.min(y1, y2) && y <= Math.max(y1, y2);
    if (side === 0 && isBeside) return true;
    // An end of a side belongs to it only at its lower end, so that a corner is crossed once.
    if (y1 <= y !== y2 <= y && x1 + ((y - y1) * (x2 - x1)) / (y2 - y1) < x) isInside = !isInside;
  }
  return isInside;
}
