"""Walk over the parts of a Parquet file that describe it, without building anything from them.

They are written in the compact protocol of Thrift. pyarrow builds objects from them that are
hundreds of times larger than the bytes, so that what they declare is counted first.
"""

from collections.abc import Callable

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
NUMBERS = (I16, I32, I64)
VISITED_DEPTH = 2  # fields in fields that are visited; what is deeper is passed over
MOST_DEPTH = 32  # of structs inside structs; Parquet needs eight

# Called with the numbers of the fields that lead to a field, its type, and its value: a whole
# number, or the length of a list.
Visit = Callable[[tuple[int, ...], int, int], None]


class Walk:
    """Walk over one struct.

    Parameters
    ----------
    content : bytes
    visit : callable
        Called for whole numbers and for lists.

    Raises
    ------
    IndexError
        The content ends before the struct does.
    ValueError
        It is no struct of Parquet.
    """

    def __init__(self, content: bytes, visit: Visit) -> None:
        self.content, self.visit, self.place = content, visit, 0
        self.entries = 0  # texts and structs in lists that were passed over

    def struct(self, above: tuple[int, ...] = ()) -> None:
        """Walk to the end of the struct that starts here."""
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind, where = head & 0xF, (*above, number)
            if kind in NUMBERS:
                self.visit(where, kind, self._signed())
            elif kind in {LIST, SET}:
                self._list(where)
            elif kind == STRUCT and len(where) < VISITED_DEPTH:
                self.struct(where)
            else:
                self._pass(kind, 1)

    def _list(self, where: tuple[int, ...]) -> None:
        kind, length = self._list_head()
        self.visit(where, LIST, length)
        for _ in range(length):
            if kind == STRUCT and len(where) < VISITED_DEPTH:
                self.struct(where)
            else:
                self._pass(kind, 1, in_list=True)

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        length = head >> 4 if head >> 4 != 0xF else self._unsigned()
        if length > len(self.content) - self.place:
            raise IndexError("the list is longer than what is left")
        return head & 0xF, length

    def _pass(self, kind: int, depth: int, in_list: bool = False) -> None:
        """Pass over one value."""
        if kind in {TRUE, FALSE}:
            self.place += in_list  # a field has the value in its type
        elif kind in NUMBERS:
            while self._byte() >= 0x80:
                pass
        elif kind == BINARY:
            length = self._unsigned()  # moves the place
            self.place += length
        elif kind == STRUCT:
            if depth > MOST_DEPTH:
                raise ValueError("structs that are nested too deep")
            while head := self._byte():
                if not head >> 4:
                    self._unsigned()
                self._pass(head & 0xF, depth + 1)
        elif kind in {LIST, SET}:
            inner, length = self._list_head()
            self.entries += length if inner in {BINARY, STRUCT} else 0
            for _ in range(length):
                self._pass(inner, depth + 1, in_list=True)
        elif kind in {BYTE, DOUBLE}:
            self.place += 1 if kind == BYTE else 8
        else:
            raise ValueError(f"a field of the type {kind}, which Parquet does not use")

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise ValueError("a number of more than 64 bits")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
