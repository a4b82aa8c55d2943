import { h, render } from "preact";
import htm from "htm";
export { render, createContext, Fragment } from "preact";
export { useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect, useContext } from "preact/hooks";
export { h };
export const html = htm.bind(h);
