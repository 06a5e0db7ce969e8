"""What the test of collectivity knows of MPI and of the library. An entry that names a
function, or state, of the library says why it may be trusted."""

ALL, NODE, LEADERS, GROUP = 'all', 'node', 'leaders', 'group'

# Collective calls of MPI, and which argument says over whom.
COLLECTIVE = {
    'MPI_Comm_dup': 0, 'MPI_Comm_create': 0, 'MPI_Comm_split': 0, 'MPI_Comm_split_type': 0,
    'MPI_Comm_free': 0, 'MPI_Comm_dup_with_info': 0, 'MPI_Comm_idup': 0,
    'MPI_Win_allocate_shared': 3, 'MPI_Win_allocate': 3, 'MPI_Win_create': 4,
    'MPI_Win_free': 0, 'MPI_Win_fence': 1,
    'MPI_File_open': 0, 'MPI_File_close': 0, 'MPI_File_set_view': 0, 'MPI_File_set_size': 0,
    'MPI_File_preallocate': 0, 'MPI_File_set_info': 0, 'MPI_File_set_atomicity': 0,
    'MPI_File_sync': 0, 'MPI_File_seek_shared': 0,
    'MPI_File_read_all': 0, 'MPI_File_write_all': 0, 'MPI_File_read_at_all': 0,
    'MPI_File_write_at_all': 0, 'MPI_File_iread_at_all': 0, 'MPI_File_iwrite_at_all': 0,
    'MPI_File_read_ordered': 0, 'MPI_File_write_ordered': 0,
    'MPI_Barrier': 0, 'MPI_Bcast': 4, 'MPI_Allreduce': 5, 'MPI_Reduce': 6, 'MPI_Scan': 5,
    'MPI_Exscan': 5, 'MPI_Gather': 7, 'MPI_Gatherv': 8, 'MPI_Scatter': 7, 'MPI_Scatterv': 8,
    'MPI_Allgather': 6, 'MPI_Allgatherv': 7, 'MPI_Alltoall': 6, 'MPI_Alltoallv': 8,
    'MPI_Alltoallw': 8, 'MPI_Reduce_scatter': 5, 'MPI_Reduce_scatter_block': 5,
    'MPI_Ibarrier': 0, 'MPI_Ibcast': 4, 'MPI_Iallreduce': 5,
    # Each waits for a partner who must come, too. Single messages (MPI_Send ...) are sent and
    # received by number, which twophase_exchange_count_all has told: twophase_exchange alone has any.
    'MPI_Sendrecv': 10,
}
# Whose result is the same on all: if they fail on one process nothing can be agreed on.
CARRIES = {'MPI_Reduce', 'MPI_Exscan'}
# What they put into memory is the same on all: by argument.
SPREADS = {'MPI_Bcast': 0, 'MPI_Allreduce': 1, 'MPI_Allgather': 3}

# Waiting for others without MPI.
MEETS = {
    'node_meet_all': NODE,  # a counter in shared memory
    'node_release_all': NODE,  # frees what all of a node have found, when all have let it go
}

# Communicators, windows and files that are not of all processes of the dataset.
SCOPE = {
    ('node', 'comm'): NODE, ('node_memory', 'window'): NODE,
    ('twophase_window', 'leaders'): LEADERS, ('twophase_window', 'column'): LEADERS,
    ('stage', 'firsts'): LEADERS,
    ('blob', 'comm'): GROUP,
}
# A dataset of its own that some processes have: what is called with these members of it is
# collective over them alone; and over nobody else in a function whose name ends in _alone,
# which has a dataset that no other process has. What layers below do then is looked at
# where they are called for the whole dataset.
PARTS = {('blob_sub', 'ds'), ('blob_sub', 'driver')}
# What these return is the same on all who call.
AGREED_RESULTS = {'open_all', 'create_all', 'enddef_all', 'redef_all'}
# The layers of a stack by the slots that are theirs: the first argument of driver_call.
OWNER = ('driver', 'at')
# A process's own communicator, and handles made over it.
ALONE = {'MPI_COMM_SELF', 'alone'}

# Functions whose result, and what they put where these arguments point to, is the same on
# all processes. Should the agreement itself fail, nothing can be agreed on.
AGREES = {
    'dataset_agree_all': (2, 3),
    'dataset_concur_all': (2,),  # an error on all, or on none
    'dataset_share_all': (1,),
    'api_share_report_all': (4,),
    'journal_agree_all': (),  # an error on all, or on none
    # An error on all, or on none: their own comes first.
    'find_states_all': (), 'blob_foreign_states_all': (), 'blob_sync_all': (),
    'blob_sub_open_all': (),
    'blob_close_all': (),  # what failed here the layer below agrees on, when it closes
    # Which round comes next: the least of all processes, told by the exchange of counts or,
    # on one node, read from all slots.
    'learn_step': (),
    # What two processes found, agreed on.
    'file_trial_all': (1,),
    # The same dataset everywhere is what makes a call collective; an id that is wrong is
    # so everywhere.
    'base_ids_find': (),
    # A dataset whose close was deferred, of those that all its processes have: its ends are
    # told by an agreement (next_all), or all name the same file (ncmpix_wait_closed, where
    # the path is an argument like an id; MPI_Finalize).
    'first_of': (),
    # Processes of a program have the same level of threads.
    'MPI_Query_thread': (0,),
}
# Which argument of theirs is a process's own error. Who goes on after an agreement in which
# all errors were told knows that nobody had one: what the error came of is settled then.
TELLS = {'dataset_agree_all': 1, 'dataset_concur_all': 1, 'journal_agree_all': 1}

# State. Members that are named are the same on all processes of a dataset, and what is
# stored there is looked at: it must be the same, too. The others are each process's own.
# None: all members are the same, and nobody looks.
AGREED = {
    # Definitions: enddef compares them, and calls in data mode agree before they change.
    # The number of records is agreed on by each collective call that looks at it.
    'cdf_header': None, 'cdf_var': None, 'cdf_dim': None, 'cdf_att': None, 'cdf_atts': None,
    'base_hints': None,   # process 0's hold for all
    'base_share': None,   # process 0's, sent before anybody looks whether there is more
    'driver_ops': None, 'driver_posting': None, 'driver_background': None, 'driver_ahead': None,
    'driver_files': None, 'driver_kind': None,   # constants
    'dataset': {'nprocs', 'writable', 'lacking', 'safe_mode', 'heard', 'header', 'hints',
                       'comm', 'failures',
                       'node',  # all have it, or nobody: agreed on by those that ask
                       'partial',  # of a subfile, whose processes open it together
                       'deleted',  # agreed on when a deferred close is completed
                       'undone',  # where building the layers failed, which is agreed
                       'netcdf4',  # process 0's mode, or the file's first bytes, which all were told
                       'stands_in', 'base',  # found in the file's first bytes, which all were told
                       'whole'},  # set where a dataset's subfiles are opened together
    'driver': {'ops', 'at', 'lower', 'bottom', 'ds', 'posts', 'likes_runs'},
    'api_dataset': {'defining', 'indep', 'fresh', 'top', 'before', 'number', 'closing'},
    # By the mode and the processes; after agreements; by the definitions.
    'nc4': {'parallel', 'created', 'extended', 'any_together'},
    # numrecs_in_file differs only where process 0 writes it without the others.
    'mpio': {'created', 'defined', 'known_size', 'numrecs_in_file',
             'failures', 'opened_records'},
    'file': {'no_indep', 'view', 'stripe', 'shares', 'share',
             'own_size'},  # as process 0 knows, or a trial has agreed on
    'file_lend': {'board'},
    'node_board': {'state'},
    'node': {'found'},
    # All keep a thing or none does, in the order of numbers that all agreed on.
    'node_kept': None, 'node_slot': None,
    'twophase': {'unit'},
    # A journal is process 0's; all know from it what is the same (mpio_share_journal_all), and
    # go on from there by what was agreed on.
    'journal_facts': None, 'journal_state': None, 'cdf_move': None, 'cdf_move_state': None,
    'cdf_vacancy': None,  # from both headers; who has no memory for it says so before data move
    'journal': {'facts', 'state', 'pending'},
    'journal_crew': {'j', 'before', 'after', 'share', 'least', 'who'},
    'twophase_window': {'nodes', 'size', 'state', 'cleared', 'own'},
    'burst': {'promised', 'doubtful', 'coherent', 'shared', 'node', 'indep', 'made'},
    # Nodes have no more than one process where the dataset has more, or none has; all have a
    # table, or none.
    'stage': {'node', 'firsts', 'nprocs', 'table'},
    'cdf_envelope': None,  # process 0 reads or makes it, and tells all
    'blob_foreign': None,  # from a header that all have decoded
    # Whether there is a subfile of the group's is the same on all: where one group lacks its
    # own, all do without.
    'blob': {'base', 'facts', 'foreign', 'fresh', 'grouped', 'settles', 'own', 'comm',
             'ndecomps', 'nvars', 'state', 'open_vars', 'last', 'torn',
             'join', 'deferred',  # begun by all, or by none
             'makes'},  # as the page says that process 0 has read, or begun
    'blob_sub': set(),
    # From a table that all have: what is decided for a variable is the same everywhere.
    'decision': {'table', 'tile', 'fresh', 'nfresh', 'state'},
    'blob_new': {'number', 'varid', 'print', 'total'},
    'api_queue': set(),
}
# Who may store there what all do not know yet.
UNCHECKED = {
    'dataset_agree_all',                           # it agrees
    'prepare_all', 'ncmpi_create', 'ncmpi_open',  # agree_on_terms_all follows
    'mpio_write_numrecs_all', 'mpio_write_header_all', 'mpio_sync_numrecs', 'mpio_move_all',  # see numrecs_in_file above
    'resume_all',                                 # from headers that all have decoded
    'record_all',                                 # journal_record stores what it is given
    'adopt_definitions', 'end_change',            # process 0's definitions; the old ones
    'hand_back',                                  # all have it, or nobody: agreed on before
    'begin_all', 'share_all', 'stage_nodes_meet_all',  # an agreement follows on whether all have it
    'stage_keep_take_all', 'keep_open',           # what all kept, all take
    'share_space_all', 'node_find_all', 'find_node_all', 'make_window_all',  # those that ask for it agree on it
    'file_lend_begin_all',                        # all have a window, or none: agreed on before
    'new_sub', 'blob_sub_open_all',               # of a part: the same on all who have it
    'new_layer', 'blob_grow', 'make_comm_all',   # an agreement follows on whether all have it
    'create_files_all', 'open_groups_all',        # likewise: then all have their subfile, or none
    'prepare_decision',                           # blob_settle_all agrees on it
    'take_whole_all',                             # of a header that all have decoded
}
# Variables of the process that are the same on all: constants.
SHARED = {'driver_registry',
          'list', 'listed'}  # of deferred closes: agreed on by those that have them

# The same in the group that shares a subfile.
GROUPWISE = {('blob', 'group'), ('blob', 'size'), ('blob', 'unfinished'),
             ('blob_sub', 'defined'), ('blob_sub', 'driver'), ('blob_decomp', 'read')}

# The same within a node; whether it is 0 tells the node's first process.
NODEWISE = {('node_memory', 'bytes'), ('twophase_window', 'nprocs'), ('node', 'nprocs'), ('node', 'comm'),
            ('node', 'holders'), ('node_memory', 'window')}
FIRST = {('twophase_window', 'rank'), ('node', 'rank')}
# Only those who speak for their node have them.
FIRSTS = {('twophase_window', 'leaders'), ('twophase_window', 'column')}

# Arguments by which a function is one of several. Who gives create or open no communicator
# has nobody to tell.
ALIKE = {'how', 'put', 'comm'}

# Functions of the system that find nothing out; the first of these write what they are given.
# These hand an argument on, with words.
HANDS_ON = {'base_error_set': 0, 'base_error_named': 0, 'base_mpi_error': 0, 'explain': 1}
PURE = {'base_mpi_error', 'base_error_set', 'base_error_named', 'base_error_detail', 'explain',
        'strnlen', 'strcmp', 'strlen', 'memcmp', 'strchr', 'strncmp', 'memcpy', 'memset', 'strncpy',
        'memchr', 'snprintf', 'strcasecmp', 'strncasecmp', '__builtin_mul_overflow',
        '__builtin_add_overflow', '__builtin_ctzll'}
MEMORY = {'malloc', 'calloc', 'realloc', 'strdup'}
# Functions of the rooms without MPI are foreign here, too. These look at definitions.
PURE |= {'blob_foreign_kind', 'cdf_init', 'cdf_file_size', 'cdf_type_size', 'cdf_next_move', 'cdf_encode_numrecs',
         'cdf_max_records', 'cdf_encoded_size', 'cdf_move_total', 'cdf_seek_move',
         'cdf_next_move', 'cdf_find_vacancy', 'cdf_vacant_at'}
PURE_INTO = {'memcpy', 'memset', 'strncpy'}
