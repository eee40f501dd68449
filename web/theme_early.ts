// SPDX-License-Identifier: MIT
//
// A program of its own that runs between the style and the first drawing: the theme.
import { apply } from "./theme";

apply();
